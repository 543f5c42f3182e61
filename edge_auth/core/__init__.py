"""The shim: from a request to an answer, without a framework and without I/O of its own.

In the order of the request path: request, answer, endpoints, authentication, rate_limit, parameters, open_build,
search, slugs, bodies, cache.
"""
