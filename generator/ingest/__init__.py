"""What others publish becomes lake tables: the step before a build.

`cardmarket` reads the marketplace's own files into Arrow columns and refuses what is not in their shape;
`tables` says which lake tables an import keeps, reads them and puts them in place whole; `merge` joins what
was read with what the lake has; `imports` runs the three in order, and writes only when all was read.
The rules and their reasons: docs/decisions/ingest.md.
"""
