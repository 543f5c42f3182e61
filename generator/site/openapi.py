"""The OpenAPI document of the API, which the layer `site` stores as the object `openapi.json`.

It joins the table of endpoints, the prose of `operations.md` and the schemas. It depends on neither the clock nor the
build, so the layer changes only when the API does.
"""

import json
import os
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from edge_auth.api.endpoints import ENDPOINTS, Endpoint
from generator.site.guide import guide
from generator.site.open_schemas import open_schemas
from generator.site.operation_parameters import parameters
from generator.site.prose import TAGS, Prose
from generator.site.responses import responses
from generator.site.schemas import schemas

_Json = dict[str, Any]
_SECURITY_SCHEMES = {
    "bearerAuth": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "cpm_live_ and 32 letters and digits",
        "description": "`Authorization: Bearer <API_KEY>`. Read before `X-API-Key`.",
    },
    "apiKeyAuth": {
        "type": "apiKey",
        "in": "header",
        "name": "X-API-Key",
        "description": "`X-API-Key: <API_KEY>`. Read when no Bearer key is sent.",
    },
}
# What `info` says about the operator: the variable that sets it, and the neutral default.
_OPERATOR = {
    "contact_name": ("CARDPRESS_API_CONTACT_NAME", "The operator of this service"),
    "contact_url": ("CARDPRESS_API_CONTACT_URL", ""),
    "license_name": ("CARDPRESS_API_LICENSE_NAME", "As agreed with the operator of this service"),
    "license_url": ("CARDPRESS_API_LICENSE_URL", ""),
}


def document() -> bytes:
    """Return the published OpenAPI 3.1.0 document as canonical JSON: compact, UTF-8, one line.

    Its schemas are open: an answer may have more fields, so a client that was generated from it survives a new one.

    Raises:
        SiteError: A row of `operations.md` or `schemas.md` is missing, left over or malformed.
    """
    return _opened(strict_document())


def strict_document() -> bytes:
    """Return the document with schemas that allow only the fields of today. Tests and the reference use it.

    Raises:
        SiteError: As for `document`.
    """
    return _strict_document(tuple((name, os.environ.get(key) or text) for name, (key, text) in _OPERATOR.items()))


@lru_cache(1)
def _strict_document(operator: tuple[tuple[str, str], ...]) -> bytes:
    return _canonical(make_document(Prose(), dict(operator)))


def make_document(prose: Prose, operator: Mapping[str, str]) -> _Json:
    """Return the document with some prose.

    Raises:
        SiteError: A row of the prose or the schemas is missing, left over or malformed.
    """
    made = {
        "openapi": "3.1.0",
        "info": _info(operator),
        "servers": [{"url": "/", "description": "The host that serves this description"}],
        "security": [{name: []} for name in _SECURITY_SCHEMES],
        "tags": [{"name": name, "description": text} for name, text in prose.texts(TAGS).items()],
        "paths": {endpoint.path: {"get": _operation(endpoint, prose)} for endpoint in ENDPOINTS},
        "components": {"securitySchemes": _SECURITY_SCHEMES, "schemas": schemas()},
    }
    prose.require_all_used()
    return made


def _info(operator: Mapping[str, str]) -> _Json:
    contact = {"name": operator["contact_name"], "url": operator["contact_url"]}
    license_ = {"name": operator["license_name"], "url": operator["license_url"]}
    without_url = {"identifier": "LicenseRef-operator"}
    return {
        "title": "Card price monitor API",
        "version": "1.0.0",
        "summary": "Prices, catalogue, sets, watchlist and image fingerprints of a card marketplace, read-only",
        "description": guide(),
        "contact": {name: value for name, value in contact.items() if value},
        "license": license_ if license_["url"] else {"name": license_["name"], **without_url},
    }


def _operation(endpoint: Endpoint, prose: Prose) -> _Json:
    section = prose.section(endpoint.path)
    scope = f" Scope: `{endpoint.scope}`." if endpoint.scope else " Needs no scope."
    return {
        "operationId": endpoint.id,
        "tags": [endpoint.tag],
        "summary": section.title,
        "description": section.text + ("" if endpoint.public else scope),
        **({"security": []} if endpoint.public else {}),
        "parameters": parameters(endpoint, prose),
        "responses": responses(endpoint, prose),
    }


@lru_cache(1)
def _opened(strict: bytes) -> bytes:
    return _canonical(open_schemas(json.loads(strict)))


def _canonical(parsed: object) -> bytes:
    return json.dumps(parsed, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode() + b"\n"
