"""The lake: its files, their hashes, and the tables in them."""
