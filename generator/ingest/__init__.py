"""Imports: the marketplace's download files and scrapers' JSON Lines become lake tables.

What cannot be read, or is refused, raises IngestError, and nothing is imported. Parsers raise ValueError, and their
caller adds the name of the file.
"""
