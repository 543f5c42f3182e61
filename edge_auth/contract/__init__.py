"""What generator and shim agree on: names, text folding, page format, pack and search index format, keys, store.

The generator writes by these modules and the shim reads by them, so neither can drift from the other. Nothing
here imports duckdb, flask or anything of `generator/`.
"""
