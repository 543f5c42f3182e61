"""What people read of a store: overview, report, diff, doctor."""
