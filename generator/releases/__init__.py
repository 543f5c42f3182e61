"""Builds in a store: publish, roll back, verify, export, prune."""
