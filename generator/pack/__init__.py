"""Write objects into packs, and packs into the store. See README.md."""
