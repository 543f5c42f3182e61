"""Photo recognition: fingerprints of reference images into the lake, and the search for a photo's nearest.

```
images ─► pictures ─► recipe ─► collect ─► table ─► the lake ─► build ─► the API
          pixels      bits      all of     fingerprints.parquet             │
                                them       and its recipe                   ▼
photo ──► pictures ─► views ─► recipe ──────────────────────► match ◄─ references
```

`products` says which products an image shows, `verify` works samples out again. docs/fingerprint.md describes
the recipe and the distance for whoever writes another client.
"""
