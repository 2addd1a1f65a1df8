"""What touches what, and the forces that come of it."""
