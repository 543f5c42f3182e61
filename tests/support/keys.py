"""The API keys that the tests over HTTP use."""

from pathlib import Path
from typing import Any

from tests.support.commands import issue

# Scopes and other options of the keys: a shim may take seconds to notice one that is issued later.
KEYS: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "all": ((), {}),
    "watchlist": (("watchlist:read",), {}),
    "cards": (("cards:read",), {}),
    "fingerprints": (("fingerprints:read",), {}),
    "full": (("cards:read", "fingerprints:read"), {"rate_limit": 77, "expires": "2099-12-31"}),
    "to change": (("cards:read",), {}),
    "to revoke": ((), {}),
    "spent": (("cards:read",), {"rate_limit": 1}),
    "for a flood": ((), {"rate_limit": 60}),
    "to raise": ((), {"rate_limit": 3}),
    "shared": ((), {"rate_limit": 500}),
    "counted": (("cards:read", "fingerprints:read"), {"rate_limit": 5000}),
}


def issue_all(store: Path | str) -> dict[str, str]:
    """Issue these keys in a store. Return them by name."""
    return {name: issue(store, *scopes, name=name, **more) for name, (scopes, more) in KEYS.items()}
