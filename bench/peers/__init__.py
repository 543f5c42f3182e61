"""The servers of the benchmark: the product, its peers with the same data, and lower bounds."""
