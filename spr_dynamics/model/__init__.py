"""Elements to arrays: the read-only Model that kernels work on, with names beside it."""
