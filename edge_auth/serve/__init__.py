"""A shim as a server."""
