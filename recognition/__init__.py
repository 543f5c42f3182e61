"""Photo recognition: fingerprints of card pictures, and the search for the pictures nearest to a photo."""


class RecognitionError(Exception):
    """A picture or an index of fingerprints cannot be used. The message is one line that says what to do."""
