"""One module per command: options in, one call, results out. No logic here."""
