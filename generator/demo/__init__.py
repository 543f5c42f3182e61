"""The demo lake: made-up tables with the traits of real ones. The same arguments give the same bytes."""
