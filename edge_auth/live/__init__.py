"""What changes while a shim runs: keys, counters, open builds, log and metrics."""
