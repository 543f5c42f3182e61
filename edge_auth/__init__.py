"""The API shim (`core`, `host`) and the formats that it shares with the generator (`contract`)."""
