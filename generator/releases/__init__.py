"""The builds of a store: publish, roll back, verify, export and prune them, and what nights leave beside them."""
