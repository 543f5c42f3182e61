"""Photo recognition: fingerprints of card pictures, and the search for the pictures nearest to a photo."""
