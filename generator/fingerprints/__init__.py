"""The lake's table of fingerprints: written from reference images, read to match photos.

What cannot be read, matched or added raises RecognitionError; a lake that cannot be read or written IngestError.
"""
