"""What others publish, or scrapers write, becomes lake tables: the step before a build.

    cardmarket ───────────────► imports ─┐
                                         ├─► merge, daily, pages ─► tables ─► journal
    lines ─► shapes, values ──► scraped ─┘

`cardmarket` reads the marketplace's own files; `lines` reads scrapers' JSON Lines by the `shapes` and `values` that
they may have. Both refuse what is not in its shape. `imports` and `scraped` run an import from first to last: `merge`,
`daily` and `pages` join what was read with what the lake has, `tables` says which files of the lake an import keeps and
reads them, `journal` puts the new ones in place together. The rules and their reasons: docs/decisions/ingest.md.
"""
