"""State, the compiled step, snapshots, and the Simulation that owns the buffers."""
