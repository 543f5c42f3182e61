"""The lake's table of fingerprints: written from reference images, read to match photos."""
