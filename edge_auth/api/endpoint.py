"""What a view declares of itself: who may ask, what may be asked, and what comes back. Documents and tests read it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from edge_auth.errors import ApiError
from edge_auth.parameters import Declared, NoQuery, Rule, parameters_of

API = "/api/v1/"
HINT = "X-Search-Hint"
COMMON_HEADERS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, "
    "Retry-After, ETag, X-Build, X-Total-Count, " + HINT + ", Accept-Ranges, Content-Range",
    "X-Content-Type-Options": "nosniff",
}
_VARIABLE = re.compile(r"<(?:\w+:)?(\w+)>")


@dataclass(frozen=True, eq=False, kw_only=True)
class Endpoint:
    """The declaration of a view. `generator/site/operations.md` has its prose.

    Attributes:
        path: As the documents write it; log and metrics use it as the name of the endpoint.
        own: Whether it is a view that an application added to the API.
        public: Whether requests need no key. The limit then counts by client address.
        guests: Whether requests without a key may be answered, where guests are allowed.
        own_window: Whether requests with a key count apart from others, with ten times its limit.
        ignores_query: Whether it may hold anything. Otherwise the view's argument `query` says what.
        subject: The rule of the variable part of the path.
        of_build: Whether a build determines the answers, which name it in X-Build.
        hints: Whether answers that find nothing may say what may be meant.
        pinned, kept: Whether a request may name this build in X-Build; whether path and query determine the body.
        tag, schema: What the OpenAPI document says: the tag, and the schema of a 200.
        errors: The errors of the look-up. The document adds those of the checks that come before.
        cache_control, vary, extra_headers: Headers of every 200; the last ones in addition to the usual ones.
    """

    view: Callable[..., Any]
    path: str
    scope: str | None = None
    own: bool = False
    public: bool = False
    rate_limited: bool = True
    guests: bool = True
    own_window: bool = False
    ignores_query: bool = False
    subject: Rule[Any] | None = None
    of_build: bool = True
    pinned: bool = True
    kept: bool = True
    hints: bool = False
    tag: str = ""
    schema: str = ""
    errors: tuple[type[ApiError], ...] = ()
    cache_control: str = "private, no-cache"
    vary: str = "Authorization, X-API-Key, Accept-Encoding, X-Build"
    extra_headers: Mapping[str, str] = field(default_factory=dict)
    sends_rate_limit: bool = True
    methods: tuple[str, ...] = ("GET",)

    @cached_property
    def id(self) -> str:
        """The operation's id in the OpenAPI document: the name of the view, as JavaScript would write it."""
        return camel(self.view.__name__)

    @cached_property
    def query(self) -> type[Any]:
        """The dataclass of what may be asked."""
        found: type[Any] = self.view.__annotations__.get("query", NoQuery)
        return found

    @cached_property
    def parameters(self) -> dict[str, Declared]:
        return parameters_of(self.query)

    @cached_property
    def headers(self) -> dict[str, str]:
        """The headers of every 200."""
        return {**COMMON_HEADERS, **self.extra_headers, "Cache-Control": self.cache_control, "Vary": self.vary}

    @cached_property
    def shared_headers(self) -> dict[str, str]:
        """Those for a cache that asks before each use. One key may get the copy of another key's answer."""
        if not self.of_build or self.public:
            return self.headers
        return self.headers | {"Cache-Control": "public, no-cache", "Vary": "Accept-Encoding, X-Build"}

    @cached_property
    def edge_headers(self) -> dict[str, str]:
        """Those by which nginx knows who else gets the same 200: the keys of a scope ("-": all), or no other key."""
        shared = self.of_build and self.sends_rate_limit and not self.public
        return {"X-Edge-Endpoint": self.path} | ({"X-Edge-Scope": self.scope or "-"} if shared else {})

    @cached_property
    def subjects(self) -> tuple[str, ...]:
        """The names of the variable parts of the path."""
        return tuple(re.findall(r"{(\w+)}", self.path))


def documented(rule: str) -> str:
    """Return a rule of Flask as the documents write paths."""
    return _VARIABLE.sub(lambda found: f"{{{camel(found[1])}}}", rule)


def camel(name: str) -> str:
    """Return `two_words` as `twoWords`."""
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))
