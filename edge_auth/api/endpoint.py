"""An endpoint: what the API declares about one path, and the source of its answers."""

import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Protocol

from edge_auth.api.bulk import BulkFiles
from edge_auth.api.changes import StepLog
from edge_auth.api.parameters import Rule, read_query
from edge_auth.api.views import Values
from edge_auth.errors import ApiError
from edge_auth.live.keys import KeyRecord
from edge_auth.live.open_build import OpenBuild
from edge_auth.live.rate_limit import PER_KEY, KeyWindow
from edge_auth.live.request import Answer, Request, ResponseContext

API = "/api/v1/"
COMMON_HEADERS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, "
    "Retry-After, ETag, X-Build, X-Total-Count, Accept-Ranges, Content-Range",
    "X-Content-Type-Options": "nosniff",
}


class Builds(Protocol):
    """The builds that requests are answered from, and the steps from one to another."""

    @property
    def steps(self) -> StepLog:
        """The steps of the store."""
        ...

    def select(self, pin: str | None = None) -> OpenBuild:
        """Return the live build, or the one that a request names in X-Build.

        Raises:
            UnknownBuild: The store does not hold it.
            NoLiveBuild: No build was ever published.
            StoreError: It cannot be read.
        """
        ...

    def has_changed(self, build: OpenBuild, pin: str | None) -> bool:
        """Read the pointer again. Return whether a request answered from `build` would now get another build."""
        ...


class Stock(NamedTuple):
    """What sources answer from.

    Attributes:
        waiting: Returns the context of slow work, in which other requests run if requests take turns.
    """

    builds: Builds
    files: BulkFiles
    waiting: Callable[[], AbstractContextManager[None]]


class Asked(NamedTuple):
    """A request that has passed the checks of its key, limit and scope.

    Attributes:
        subject: The variable part of the path; see `routes.route`.
        record: The record of its key, None for a public endpoint.
        context: Collects the headers of the answer.
    """

    request: Request
    endpoint: "Endpoint"
    subject: str
    record: KeyRecord | None
    context: ResponseContext

    def parameters(self) -> Values:
        """Return the parameters by name.

        Raises:
            InvalidParameter: The subject or a parameter is not allowed.
        """
        return self.endpoint.parameters(self.subject, self.request.query)


class Source(Protocol):
    """Where the answers of an endpoint come from; `edge_auth.api.sources` has all of them."""

    @property
    def of_build(self) -> bool:
        """Whether a build determines the answers, which then name it in X-Build."""
        ...

    def answer(self, asked: Asked, stock: Stock) -> Answer:
        """Return the answer to a request.

        Raises:
            ApiError: A parameter is not allowed, or there is no such object.
            NoLiveBuild: No build was ever published.
            StoreError: The store failed.
        """
        ...


@dataclass(frozen=True, eq=False)
class Endpoint:
    """A row of the table of endpoints. `generator/site/operations.md` has its prose.

    Attributes:
        path: As the documents write it; log and metrics use it as the endpoint's name.
        rules: The rules of the parameters by name. None means that the endpoint ignores the query.
        scope: The scope that the key needs, if any.
        id, tag, schema: What the OpenAPI document says: the operation's id and tag, and the schema of a 200.
        errors: The errors of its look-up. The document adds those of the checks that come before.
        subject: The rule of the variable part of the path, if it has one.
        slashes: Whether the variable part may hold slashes.
        vary: The header Vary of every 200.
        extra_headers: Headers of a 200 in addition to the usual ones.
        sends_rate_limit: Whether answers carry the X-RateLimit headers.
        public: Whether requests need no key. The limit then counts by client address.
        rate_limited: Whether requests count towards a limit.
        window: The window in which requests with a key count.
        methods: The methods that are allowed. HEAD is answered like GET, without the body.
    """

    path: str
    source: Source
    rules: Mapping[str, Rule] | None = field(default_factory=dict)
    scope: str | None = None
    id: str = ""
    tag: str = ""
    schema: str = ""
    errors: tuple[type[ApiError], ...] = ()
    subject: Rule | None = None
    slashes: bool = False
    cache_control: str = "private, no-cache"
    vary: str = "Authorization, X-API-Key, Accept-Encoding, X-Build"
    extra_headers: Mapping[str, str] = field(default_factory=dict)
    sends_rate_limit: bool = True
    public: bool = False
    rate_limited: bool = True
    window: KeyWindow = PER_KEY
    methods: tuple[str, ...] = ("GET",)

    @cached_property
    def headers(self) -> dict[str, str]:
        """The headers of every 200."""
        return {**COMMON_HEADERS, **self.extra_headers, "Cache-Control": self.cache_control, "Vary": self.vary}

    @cached_property
    def shared_scope(self) -> str | None:
        """The scope of the keys that get the same 200, "-" for all keys, or None if no other key gets it."""
        shared = self.source.of_build and self.sends_rate_limit and not self.public
        return (self.scope or "-") if shared else None

    @cached_property
    def subjects(self) -> tuple[str, ...]:
        """The names of the variable parts of the path."""
        return tuple(re.findall(r"{(\w+)}", self.path))

    def parameters(self, subject: str, query: str) -> Values:
        """Return the parameters of a request by name.

        Raises:
            InvalidParameter: The subject or a parameter is not allowed.
        """
        if self.subject is not None:
            self.subject.read(self.subjects[0], subject)
        return read_query(query, self.rules) if self.rules is not None else {}
