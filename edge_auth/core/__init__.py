"""The shim: from a request to an answer, without a framework and without I/O of its own.

README.md lists the modules in the order of the request path.
"""
