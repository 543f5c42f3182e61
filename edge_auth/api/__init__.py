"""One request to one answer."""
