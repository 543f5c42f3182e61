"""Objects into packs, and packs into the store."""
