"""The checks of `cardpress doctor`: they find problems of an installation, a store, a lake and a shim."""
