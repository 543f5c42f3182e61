"""Stores: the folder or bucket that holds the builds. `open.open_store` opens one, `interface.Store` describes it."""
