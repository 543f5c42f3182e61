"""The lake: its files and their hashes, the columns of its tables, reading and writing."""
