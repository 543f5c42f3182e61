"""One module per layer: what it reads, and how its rows become objects."""
