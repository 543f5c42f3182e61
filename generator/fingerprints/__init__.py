"""The lake's table of fingerprints: written from reference images, read for matching.

table      the table and its recipe, in the lake
products   which products an image shows
load       an index from the API, a file or a lake, to match photos with
verify     works out samples again and compares them with the table

The recipe and the matching are the package `recognition`, which knows nothing of lakes.
"""
