"""Kernels of articulated-body dynamics, each an algorithm of the book, and their public faces."""
