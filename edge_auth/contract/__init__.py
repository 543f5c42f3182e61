"""Formats that the generator writes and the shim reads: names, pages, packs, indexes, search index, keys, stores.

Both sides import these modules, so they cannot drift apart. Nothing here imports duckdb, flask or the generator.
"""
