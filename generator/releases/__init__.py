"""The builds of a store: publish, roll back, verify and prune them, and what nights leave beside them."""
