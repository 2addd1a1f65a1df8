"""Torque terms in words, tables and bars, for whoever has to choose a motor or a motion."""
