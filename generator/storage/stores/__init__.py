"""Places for objects: a folder or a bucket."""
