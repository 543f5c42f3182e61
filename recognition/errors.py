"""The error of photo recognition."""


class RecognitionError(Exception):
    """A picture or an index of fingerprints cannot be used. The message is one line that says what to do."""
