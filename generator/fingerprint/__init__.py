"""Photo recognition: fingerprints of reference images into the lake, and the search for a photo's nearest.

`pictures` reads image files, `recipe` turns pixels into a fingerprint.
"""
