"""What a robot feels: measurements made of a simulation's state and contacts."""
