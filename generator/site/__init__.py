"""The OpenAPI document and the pages at /docs and /explore."""
