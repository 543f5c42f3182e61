"""The OpenAPI document, and the pages of the site at /docs and /explore."""
