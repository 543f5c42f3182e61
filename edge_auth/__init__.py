"""The edge of cardpress: `contract/` is what generator and shim share, the rest is the shim."""
