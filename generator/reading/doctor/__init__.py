"""The checks of `cardpress doctor`: what is wrong with an installation, a store, a lake and what serves them."""
