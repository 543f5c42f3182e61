"""A build as a tree of plain files, in a folder or a bucket."""
