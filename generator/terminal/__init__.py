"""The terminal of the operator: what commands print, and the progress of long work."""
