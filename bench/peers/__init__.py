"""What is measured beside the product: its own server, floors, and other ways to serve the same data."""
