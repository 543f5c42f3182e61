"""Keys: how clients send them, the errors for bad ones, and how soon a change takes effect."""

import re
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.support.commands import issue, run
from tests.support.service import Client, HttpAnswer, Service, until

API = "/api/v1"
WRONG = "cpm_live_" + "a" * 32
IN_FORCE = 5  # seconds within which a change to a key counts, without a restart
AT_MOST = 3 * IN_FORCE  # on a machine that is busy
READS = {
    "watchlist:read": ("watchlist", "watchlist/never", "watchlist/never/history", "watchlist/never/offers"),
    "cards:read": ("cards", "cards/100", "sets"),
    "fingerprints:read": ("fingerprints",),
}


def me(service: Service, key: str) -> dict:
    return service.client(key).get(f"{API}/me").json


def in_force(client: Client, status: int, code: str | None, path: str = "me") -> float:
    """Waits for an answer; seconds until it came."""

    def is_reported() -> bool:
        answer = client.get(f"{API}/{path}")
        return (answer.status, answer.code) == (status, code)

    begun = time.monotonic()
    until(is_reported, AT_MOST, f"{status} {code}")
    return time.monotonic() - begun


def test_a_key_and_its_record(fixed_service: Service, keys: dict[str, str]) -> None:
    key = keys["full"]
    assert re.fullmatch("cpm_live_[A-Za-z0-9]{32}", key)
    record = me(fixed_service, key)
    assert set(record) == {"id", "name", "prefix", "scopes", "rate_limit", "created_at", "expires_at"}
    assert record["name"] == "full"
    assert record["prefix"] == key[: len("cpm_live_") + 4]
    assert record["scopes"] == ["cards:read", "fingerprints:read"]
    assert record["rate_limit"] == 77 and type(record["rate_limit"]) is int
    assert record["expires_at"] == "2099-12-31T23:59:59Z"
    created = datetime.strptime(record["created_at"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    # The keys are issued once per run of the tests.
    assert timedelta() <= datetime.now(UTC) - created < timedelta(hours=1)
    assert me(fixed_service, keys["all"])["expires_at"] is None


def test_a_key_is_stored_only_as_a_hash(fixed_store: Path, fixed_key: str) -> None:
    secret = fixed_key.removeprefix("cpm_live_").encode()
    holding = [file for file in fixed_store.rglob("*") if file.is_file() and secret in file.read_bytes()]
    assert holding == []


def test_default_scopes_and_me_without_any(fixed_service: Service, fixed_key: str) -> None:
    assert sorted(me(fixed_service, fixed_key)["scopes"]) == sorted([*READS, "bulk:read"])


@pytest.mark.parametrize("scope", READS)
def test_scopes(fixed_service: Service, keys: dict[str, str], scope: str) -> None:
    client = fixed_service.client(keys[scope.removesuffix(":read")])
    for needed, paths in READS.items():
        for path in paths:
            answer = client.get(f"{API}/{path}")
            expected = (200, None) if needed == scope else (403, "insufficient_scope")
            assert (answer.status, answer.code) == expected, path
    assert [client.get(f"{API}/{path}").status for path in ("me", "status")] == [200, 200]


def test_ways_to_send_a_key(fixed_service: Service, fixed_key: str) -> None:
    without_key = fixed_service.client()
    good = [
        [("Authorization", f"Bearer {fixed_key}")],
        [("authorization", f"bEaReR {fixed_key}")],
        [("Authorization", f"Bearer    {fixed_key}")],
        [("X-API-Key", fixed_key)],
        [("x-api-key", fixed_key)],
        [("Authorization", "Basic dXNlcjpwYXNz"), ("X-API-Key", fixed_key)],
        [("Authorization", f"Bearer {fixed_key}"), ("X-API-Key", WRONG)],
    ]
    for headers in good:
        assert without_key.send("GET", f"{API}/me", headers).status == 200, headers


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ([], "unauthorized"),
        ([("Authorization", "Basic dXNlcjpwYXNz")], "unauthorized"),
        ([("Authorization", "Digest KEY")], "unauthorized"),
        ([("Authorization", f"Bearer {WRONG}")], "invalid_api_key"),
        ([("Authorization", f"Bearer {WRONG}"), ("X-API-Key", "KEY")], "invalid_api_key"),
        ([("Authorization", "Bearer"), ("X-API-Key", "KEY")], "invalid_api_key"),
        ([("Authorization", "Bearer ")], "invalid_api_key"),
        ([("Authorization", "Bearer KEY x")], "invalid_api_key"),
        ([("Authorization", "Bearer KEY,Bearer KEY")], "invalid_api_key"),
        ([("Authorization", ""), ("X-API-Key", "KEY")], "invalid_api_key"),
        ([("Authorization", "Bearer \xff\xfe")], "invalid_api_key"),
        ([("X-API-Key", "")], "invalid_api_key"),
        ([("X-API-Key", "\xff\xfe")], "invalid_api_key"),
        ([("X-API-Key", WRONG)], "invalid_api_key"),
        ([("X-API-Key", "KEYx")], "invalid_api_key"),
        ([("X-API-Key", "x" * 5000)], "invalid_api_key"),
        ([("X-API-Key", "cpm_live_")], "invalid_api_key"),
        ([("Authorization", "Basic x"), ("X-API-Key", "")], "invalid_api_key"),
    ],
)
def test_keys_that_will_not_do(fixed_service: Service, fixed_key: str, headers: list, code: str) -> None:
    sent = [(name, value.replace("KEY", fixed_key)) for name, value in headers]
    for path in ("me", "cards", "watchlist/never?x=1"):
        answer = fixed_service.client().send("GET", f"{API}/{path}", sent)
        assert (answer.status, answer.code) == (401, code)
        assert answer["WWW-Authenticate"] == "Bearer"
        assert answer["Cache-Control"] == "no-store"
        assert answer["X-RateLimit-Limit"] is None
        assert fixed_key not in answer.text


@pytest.mark.parametrize("value", ["KEY", "Token KEY", "token=KEY", "ApiKey  KEY"])
def test_a_key_without_bearer_is_named_in_the_message(fixed_service: Service, fixed_key: str, value: str) -> None:
    answer = fixed_service.client(Authorization=value.replace("KEY", fixed_key)).get(f"{API}/me")
    assert (answer.status, answer.code) == (401, "unauthorized")
    assert ("without the word Bearer" in answer.message) == ("=" not in value)
    assert fixed_key not in answer.text


@pytest.mark.thorough
def test_expired_then_revoked(fixed_service: Service, fixed_store: Path) -> None:
    """A key is valid up to and including its moment. The error "revoked" comes before "expired"."""
    client = fixed_service.client(issue(fixed_store))
    record = client.get(f"{API}/me").json
    moment = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=4)
    run("keys", "update", record["id"], "--store", fixed_store, "--expires", moment.strftime("%Y-%m-%dT%H:%M:%SZ"))
    until(lambda: client.get(f"{API}/me").code == "expired_api_key", 60, "the key expires")
    assert datetime.now(UTC) > moment
    assert client.get(f"{API}/me")["WWW-Authenticate"] == "Bearer"
    run("keys", "revoke", record["id"], "--store", fixed_store)
    in_force(client, 401, "revoked_api_key")


def test_changes_are_in_force_without_a_restart(
    fixed_service: Service, fixed_store: Path, keys: dict[str, str]
) -> None:
    client = fixed_service.client(keys["to change"])
    id_ = client.get(f"{API}/me").json["id"]
    run("keys", "update", id_, "--store", fixed_store, "--rate-limit", 5000, "--expires", "2098-01-01")
    begun = time.monotonic()
    answer = until(lambda: _with_limit(client, "5000"), AT_MOST, "the new limit")
    took = [time.monotonic() - begun]
    assert answer["X-RateLimit-Limit"] == "5000"
    assert (answer.json["expires_at"], answer.json["scopes"]) == ("2098-01-01T23:59:59Z", ["cards:read"])
    run("keys", "update", id_, "--store", fixed_store, "--scope", "watchlist:read", "--expires", "never")
    took.append(in_force(client, 403, "insufficient_scope", "cards"))
    in_force(client, 200, None, "watchlist")
    until(lambda: client.get(f"{API}/me").json["expires_at"] is None, AT_MOST, "no expiry")
    run("keys", "revoke", id_, "--store", fixed_store)
    took.append(in_force(client, 401, "revoked_api_key"))
    assert sorted(took)[-2] <= IN_FORCE  # during one of them the machine may have been busy with something else


def test_a_new_key_works_while_the_shim_runs(fixed_service: Service, fixed_store: Path) -> None:
    """A new key is good from its first request on, in each worker."""
    key = issue(fixed_store)
    assert [fixed_service.client(key).get(f"{API}/me").status for _ in range(6)] == [200] * 6


def _with_limit(client: Client, limit: str) -> HttpAnswer | None:
    answer = client.get(f"{API}/me")
    return answer if answer["X-RateLimit-Limit"] == limit else None
