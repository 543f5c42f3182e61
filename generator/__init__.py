"""The batch side of cardpress: it turns a lake of Parquet files into builds in an object store. See README.md."""
