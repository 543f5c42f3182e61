"""The tasks of a build on a Dask cluster."""
