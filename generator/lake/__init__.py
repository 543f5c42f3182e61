"""The lake: its files and their hashes, the columns of its tables, reading and writing.

What cannot be read, or breaks a rule, raises LakeError; for imports IngestError, for the quarantine StoreError.
"""
