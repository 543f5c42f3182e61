"""The runtime of the shim: server and WSGI adapter, polling of the store, rate limit counters, log and metrics."""
