"""`make siege`: attacks on a running shim of two workers, while other clients measure their answers."""
