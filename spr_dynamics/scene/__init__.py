"""What can be drawn, as plain data: shapes on links, their surfaces, arrows."""
