"""One module for each layer of a build."""
