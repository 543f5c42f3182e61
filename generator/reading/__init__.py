"""Reads a store and describes it to people: overview, explanation, diff, report and doctor."""
