"""What the benchmarks share: robots, the same robots in other engines, a clock."""
