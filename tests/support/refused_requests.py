"""The requests that are refused, one for each error of an endpoint: what the recorded messages answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlencode

from edge_auth.api.endpoint import Endpoint
from edge_auth.api.parameters import BuildId, Choice, IdList, Integer, NameList, Price, ProductId, Rule, Text, TextList
from edge_auth.errors import (
    ApiError,
    ExpiredKey,
    InsufficientScope,
    InternalError,
    InvalidKey,
    InvalidParameter,
    MethodNotAllowed,
    NoKey,
    RateLimited,
    RevokedKey,
)
from generator.site.texts import PARAMETERS, STATUSES, Prose

_KEY_OF: Mapping[type[ApiError], str] = {
    NoKey: "",
    InvalidKey: "wrong",
    ExpiredKey: "expired",
    RevokedKey: "revoked",
    InsufficientScope: "without scopes",
    RateLimited: "spent",
}

_BAD_TEXTS = {ProductId: "x", Choice: "other", Price: "1.234", IdList: "1,x", TextList: "a,,b", NameList: "\n"}


@dataclass(frozen=True)
class RefusedRequest:
    target: str
    method: str = "GET"
    key: str = "valid"  # or what is wrong with it; '' for none
    headers: Mapping[str, str] = field(default_factory=dict)


def refused_requests(
    endpoint: Endpoint, errors: Sequence[type[ApiError]], prose: Prose
) -> dict[type[ApiError], RefusedRequest]:
    """Return a request for each error of an endpoint that a request can get."""
    subject = "...".join(prose.sentence(endpoint.path, PARAMETERS, name).example for name in endpoint.subjects)
    path = _target(endpoint, subject)
    target = path + _needed_query(endpoint, prose)
    key = "" if endpoint.public else "valid"
    found: dict[type[ApiError], RefusedRequest] = {
        InvalidParameter: RefusedRequest(f"{path}?{_bad_query(endpoint)}", key=key),
        MethodNotAllowed: RefusedRequest(target, "POST", key),
        InternalError: RefusedRequest(target, key=key),
        **{error: RefusedRequest(target, key=kind) for error, kind in _KEY_OF.items()},
    }
    if endpoint.scope is None:
        del found[InsufficientScope]
    of_prose: list[type[ApiError]] = [InvalidParameter, *endpoint.errors]
    for error in of_prose:
        if given := prose.sentence(endpoint.path, STATUSES, str(error.status)).example:
            found[error] = _given_request(endpoint, target, given, key)
        else:
            assert error not in endpoint.errors, (
                f"generator/site/operations.md: the row '{error.status}' for {endpoint.path} has no request: "
                "write it below 'such as'"
            )
    return {error: found[error] for error in errors if error in found}


def _target(endpoint: Endpoint, subject: str) -> str:
    before, _, rest = endpoint.path.partition("{")
    return before + subject + rest.rpartition("}")[2] if rest else before


def _needed_query(endpoint: Endpoint, prose: Prose) -> str:
    names = [name for name, rule in (endpoint.query or {}).items() if rule.required]
    examples = {name: prose.sentence(endpoint.path, PARAMETERS, name).example for name in names}
    return f"?{urlencode(examples)}" if examples else ""


def _bad_query(endpoint: Endpoint) -> str:
    for name, rule in (endpoint.query or {}).items():
        return urlencode({name: _bad_text(rule)})
    return "limit=5"


def _bad_text(rule: Rule) -> str:
    match rule:
        case Integer():
            return str(rule.low - 1 if rule.high is None else rule.high + 1)
        case BuildId():
            return ""
        case Text():
            return "" if rule.refuses_empty else "x" * (rule.max_characters + 1)
    return _BAD_TEXTS[type(rule)]


def _given_request(endpoint: Endpoint, target: str, given: str, key: str) -> RefusedRequest:
    """Return the request that a row gives as a query, as a header, or as the variable part of the path."""
    name, colon, value = given.partition(": ")
    if colon:
        return RefusedRequest(target, key=key, headers={name: value})
    return RefusedRequest(target + given if given.startswith("?") else _target(endpoint, given), key=key)
