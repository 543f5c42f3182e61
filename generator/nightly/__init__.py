"""The unattended rebuild: build, gates, publish, smoke test, prune."""
