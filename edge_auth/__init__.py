"""The API shim: `create_app` is Flask's factory, and `needs_key` lets only keys reach a view."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from edge_auth.api.auth import needs_key
    from edge_auth.serve.app import create_app

__all__ = ("create_app", "needs_key")


def __getattr__(name: str) -> Any:  # the parts below, such as the errors, are used without Flask
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("edge_auth.serve.app" if name == "create_app" else "edge_auth.api.auth"), name)
