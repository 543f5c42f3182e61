"""What runs the shim: server, polling, counters, log and metrics."""
