"""Compares two builds, in objects and in values, and prints the result as text, JSON or an HTML page."""
