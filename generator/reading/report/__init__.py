"""The operator's report of a build: freshness, coverage of prices, gate results, times and history."""
