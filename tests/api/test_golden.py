"""The answers for the fixed lake, compared with recorded files, which `make golden` rewrites."""

from collections.abc import Callable
from pathlib import Path

import pytest

from edge_auth.api.blueprints import ENDPOINTS
from tests.support.commands import issue, run
from tests.support.service import Client, HttpAnswer, Service, until

API = "/api/v1"
Golden = Callable[[str, str, HttpAnswer], None]
# Each path without a variable part; those of the store and of files have tests of their own.
OTHERS = ("openapi.json", "bulk", "changes")
PATHS = [endpoint.path.removeprefix(f"{API}/") for endpoint in ENDPOINTS if not endpoint.subjects]
REQUESTS = {path.replace("/", "-"): path for path in PATHS if path not in OTHERS} | {
    "watchlist-page": "watchlist?limit=2&offset=1",
    "watchlist-item": "watchlist/CHARIZARD-base",
    "watchlist-item-by-url": "watchlist/https%3A%2F%2Fmarket.example%2Fen%2FSingles%2FBase%2FCharizard-ex"
    "%3FsellerCountry%3D23%26language%3D1",
    "watchlist-history-daily": "watchlist/charizard-base/history",
    "watchlist-history-weekly": "watchlist/charizard-base/history?view=weekly&range=90d",
    "watchlist-history-monthly": "watchlist/charizard-base/history?view=monthly",
    "watchlist-history-none": "watchlist/never/history?range=30d",
    "watchlist-offers": "watchlist/charizard-base/offers",
    "watchlist-offers-none": "watchlist/never/offers",
    "cards-by-number": "cards?sort=number&order=desc&limit=20",
    "cards-by-filtered": "cards?sort=filtered&limit=8",
    "cards-search": "cards?q=EX%20charizard&number=04&rarity=ultra%20rare&kind=single",
    "cards-of-a-set": "cards?set=151&sort=name",
    "cards-none": "cards?q=nothing-like-it",
    "cards-past-the-end": "cards?offset=1000",
    "cards-by-ids-and-defaults": "cards?ids=113&kind=all&sort=trend&limit=050&offset=0&q=&set=",
    "cards-by-ids": "cards?ids=120,777,0100,-5,120",
    "cards-by-price": "cards?min_price=2900&max_price=3200.00&sort=filtered&order=asc",
    "cards-by-trend": "cards?max_price=0.5&sort=name&game=POKEMON",
    "card": "cards/100",
    "card-last-days": "cards/100?days=2",
    "card-bare": "cards/113",
    "card-sealed": "cards/111",
    "card-many-offers": "cards/122",
    "card-counted-only": "cards/120",
    "sets-search": "sets?q=EPEE",
    "sets-of-a-game": "sets?game=other",
    "names-of-a-game": "names?game=POKEMON",
    "names-none": "names?game=unknown",
    "facets-of-a-search": "facets?q=e&kind=single&max_price=3200",
    "facets-none": "facets?q=nothing-like-it",
    "cards-named": "cards/named?names=Charizard%20EX%0D%0A%0Anothing-like-it%0AFlabebe&kind=all",
    "cards-named-printings": "cards/named?names=Charizard%20ex%0AFlabebe&printings=true",
    "error-400-named": "cards/named?names=%0A",
    "series": "series?ids=100,777,113,100,111",
    "series-none": "series?ids=777",
    "error-400-series": "series",
    "error-400-series-limit": "series?ids=100&limit=50",
    "card-identifiers": "cards/100/identifiers",
    "card-identifiers-none": "cards/113/identifiers",
    "identifiers-found": "identifiers/tcgplayer?values=9,42382,x,9,%F0%9F%90%89",
    "identifiers-awkward": "identifiers/tcgdex?values=%C3%89p%C3%A9e/%C3%A9%2B%2526,base1-5",
    "movers": "movers?window=1d&min_price=0",
    "market-of-games": "market?by=game&sort=name&order=desc",
    "market-none": "market?game=unknown",
    "market-history": "market/history?set=1",
    "market-history-of-a-game": "market/history?game=POKEMON&days=3",
    "error-400-market-sort": "market?sort=index",
    "error-400-market-neither": "market/history?days=5",
    "error-400-market-both": "market/history?set=1&game=x",
    "error-400-market-game": "market/history?game=",
    "error-400-market-set": "market/history?set=Base",
    "error-400-market-days": "market/history?set=1&days=3651",
    "error-404-market": "market/history?set=9",
    "movers-none": "movers?direction=down&by=euros&min_price=100",
    "cards-by-match": "cards?q=char&sort=match&limit=5",
    "cards-found": "cards?find=set%20charizard%204/102&sort=match&limit=3",
    "error-400-match": "cards?sort=match",
    "error-400-match-order": "cards?q=ex&sort=match&order=asc",
    "error-400-range": "cards?limit=101",
    "error-400-integer": "cards?offset=1.0",
    "error-400-choice": "cards?sort=price",
    "error-400-empty": "cards?order=",
    "error-400-long": "cards?q=" + "x" * 101,
    "error-400-repeated": "sets?limit=1&limit=1",
    "error-400-unknown": "cards?ofset=5",
    "error-400-no-parameters": "status?limit=5",
    "error-400-utf8": "cards?q=%FF",
    "error-400-id": "cards/abc",
    "error-400-ids": "cards?ids=1,,2",
    "error-400-ids-limit": "cards?ids=1&limit=5",
    "error-400-ids-order": "cards?ids=1&order=desc",
    "error-400-ids-many": "cards?ids=" + ",".join(map(str, range(101))),
    "error-400-price": "cards?min_price=1.234",
    "error-400-price-bounds": "cards?min_price=2&max_price=1.99",
    "error-400-game-long": "sets?game=" + "x" * 201,
    "error-400-window": "movers?window=2d",
    "error-400-floor": "movers?min_price=1.0",
    "error-400-names": "names?q=char",
    "error-400-facets": "facets?sort=trend",
    "error-400-values": "identifiers/tcgdex",
    "error-400-values-empty": "identifiers/tcgdex?values=1,",
    "error-404-path": "nowhere",
    "error-404-scheme": "identifiers/unseen?values=1",
    "error-404-card-identifiers": "cards/1/identifiers",
    "error-404-card": "cards/1",
    "error-404-set": "cards?set=unknown",
    "error-404-slug": "watchlist/unknown",
    "error-409": "watchlist/charizard-ex",
    "error-409-many": "watchlist/market.example",
}


@pytest.mark.parametrize("name", REQUESTS)
def test_answer(client: Client, golden: Golden, name: str) -> None:
    golden(name, f"GET {API}/{REQUESTS[name]}", client.get(f"{API}/{REQUESTS[name]}"))


def test_no_key(fixed_service: Service, golden: Golden) -> None:
    golden("error-401-no-key", f"GET {API}/me", fixed_service.client().get(f"{API}/me"))


def test_wrong_key(fixed_service: Service, golden: Golden) -> None:
    answer = fixed_service.client("cpm_live_" + "a" * 32).get(f"{API}/me")
    golden("error-401-wrong-key", f"GET {API}/me", answer)


def test_expired_key(fixed_service: Service, fixed_store: Path, golden: Golden) -> None:
    client = fixed_service.client(issue(fixed_store))
    run("keys", "update", client.get(f"{API}/me").json["id"], "--store", fixed_store, "--expires", "2020-01-01")
    until(lambda: client.get(f"{API}/me").code == "expired_api_key", 60, "the key expires")
    golden("error-401-expired", f"GET {API}/me", client.get(f"{API}/me"))


def test_revoked_key(fixed_service: Service, fixed_store: Path, keys: dict[str, str], golden: Golden) -> None:
    client = fixed_service.client(keys["to revoke"])
    run("keys", "revoke", client.get(f"{API}/me").json["id"], "--store", fixed_store)
    until(lambda: client.get(f"{API}/me").code == "revoked_api_key", 60, "the key is revoked")
    golden("error-401-revoked", f"GET {API}/me", client.get(f"{API}/me"))


def test_scope(fixed_service: Service, keys: dict[str, str], golden: Golden) -> None:
    answer = fixed_service.client(keys["cards"]).get(f"{API}/watchlist")
    golden("error-403", f"GET {API}/watchlist", answer)


def test_method(client: Client, golden: Golden) -> None:
    golden("error-405", f"POST {API}/cards", client.send("POST", f"{API}/cards"))


def test_rate_limit(fixed_service: Service, keys: dict[str, str], golden: Golden) -> None:
    client = fixed_service.client(keys["spent"])
    answers = [client.get(f"{API}/me") for _ in range(3)]  # three, as a minute may end in between
    refused = [answer for answer in answers if answer.status == 429]
    assert refused
    golden("error-429", f"GET {API}/me", refused[0])
