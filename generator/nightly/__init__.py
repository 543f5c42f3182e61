"""The nightly run: build, verify, judge by gates, publish, test and prune, without a person."""
