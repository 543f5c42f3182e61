"""`cardpress doctor`: what is wrong with an installation, in a line per check; it changes nothing.

findings  what a check says, and running checks so that one that fails stops no other
versions  Python and the libraries
store     reading, the live build, the records; writing, by a probe that is cleaned away
lake      tables, newest days
keys      the key records
serving   what the shim needs beside the store
"""
