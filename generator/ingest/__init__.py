"""Imports: the marketplace's download files and scrapers' JSON Lines become lake tables."""
