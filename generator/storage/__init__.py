"""The formats of a build, which generator and shim share."""
