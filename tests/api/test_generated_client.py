"""The published description: open schemas, names, and a client generated from it."""

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from generator.site.openapi import document, strict_document
from tests.support.service import Service

pytestmark = pytest.mark.xdist_group("generated client")  # one process: it is generated once
DOCUMENT, STRICT = (json.loads(made()) for made in (document, strict_document))
SCHEMAS = DOCUMENT["components"]["schemas"]
MAPS = ("identifiers",)  # objects with names that are data
LOOKUPS = ("list_cards", "list_games", "list_movers")


def objects(value: object) -> Iterator[dict]:
    """Every JSON object in a value."""
    if isinstance(value, dict):
        yield value
    for member in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects(member)


def test_every_schema_is_open() -> None:
    assert not any(found.get("additionalProperties") is False for found in objects(SCHEMAS))
    assert any(found.get("additionalProperties") is False for found in objects(STRICT["components"]["schemas"]))


def _with_more(value: object, is_map: bool = False) -> object:
    """A value with a new field in every object. The names in a map are data, so it has no fields."""
    if isinstance(value, dict):
        more = {} if is_map else {"added_later": {"x": 1}}
        return {name: _with_more(member, name in MAPS) for name, member in value.items()} | more
    return [_with_more(item) for item in value] if isinstance(value, list) else value


def test_every_object_has_a_name() -> None:
    for schema in SCHEMAS.values():
        assert not any("properties" in found for found in objects(schema.get("properties", {})))
    assert {"StatusBuild", "StatusFilteredPrice", "ErrorError"} <= set(SCHEMAS)


def test_contact_and_licence_are_the_operators(monkeypatch: pytest.MonkeyPatch) -> None:
    assert DOCUMENT["info"]["contact"] == {"name": "The operator of this service"}
    assert set(DOCUMENT["info"]["license"]) == {"name", "identifier"}
    actual = {
        "CONTACT_NAME": 'A "shop"',
        "CONTACT_URL": "https://a.example",
        "LICENSE_NAME": "L",
        "LICENSE_URL": "https://l.example",
    }
    for name, value in actual.items():
        monkeypatch.setenv(f"CARDPRESS_API_{name}", value)
    info = json.loads(document())["info"]
    assert info["contact"] == {"name": 'A "shop"', "url": "https://a.example"}
    assert info["license"] == {"name": "L", "url": "https://l.example"}


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The name of a package that openapi-python-client made from the published description."""
    pytest.importorskip("openapi_python_client")
    folder = tmp_path_factory.mktemp("client")
    (folder / "openapi.json").write_bytes(document())
    # The generator knows no media type of files but octet-stream, and has this setting for others.
    files = dict.fromkeys(("application/vnd.apache.parquet", "application/gzip"), "application/octet-stream")
    (folder / "config.json").write_text(json.dumps({"post_hooks": [], "content_type_overrides": files}))
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--path", "openapi.json"]
    more = ["--config", "config.json", "--meta", "none", "--output-path", "card_prices", "--fail-on-warning"]
    result = subprocess.run([*command, *more], cwd=folder, env=os.environ, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "warning" not in (result.stdout + result.stderr).lower(), result.stdout
    sys.path.insert(0, str(folder))
    yield "card_prices"
    sys.path.remove(str(folder))


@pytest.mark.thorough
def test_a_generated_client_survives_a_new_field(generated: str) -> None:
    models = importlib.import_module(f"{generated}.models")
    pages = [name for name in SCHEMAS if name.endswith("Page")]
    assert {"CardPage", "GamePage", "MoverPage", "SetPage", "WatchlistPage"} <= set(pages)
    for name in (*pages, "CardDetail", "Status", "FingerprintIndex", "Key", "Error"):
        for example in SCHEMAS[name]["examples"]:
            parsed = getattr(models, name).from_dict(_with_more(example))
            assert parsed.additional_properties == {"added_later": {"x": 1}}, name
            assert set(parsed.to_dict()) == {*example, "added_later"}, name


@pytest.mark.thorough
def test_a_generated_client_reads_the_lookups(generated: str, fixed_service: Service, fixed_key: str) -> None:
    client = importlib.import_module(f"{generated}.client").AuthenticatedClient(
        base_url=f"http://127.0.0.1:{fixed_service.port}", token=fixed_key
    )
    call = {name: importlib.import_module(f"{generated}.api.catalogue.{name}").sync for name in LOOKUPS}
    window = importlib.import_module(f"{generated}.models").ListMoversWindow
    found = call["list_cards"](client=client, ids="113,999999,112")  # the client sends defaults beside it
    assert [card.id_product for card in found.data] == [113, 112]
    assert found.not_found == [999999]
    game = call["list_games"](client=client).data[0]
    cards = call["list_cards"](client=client, game=game.name, min_price=0.5, limit=100)
    assert cards.data and all(card.price_guide.trend >= 0.5 for card in cards.data)
    assert call["list_movers"](client=client, window=window("30d")).pagination.returned >= 0


def test_a_generated_client_has_each_class_once(generated: str) -> None:
    folder = Path(importlib.import_module(generated).__file__).parent / "models"
    errors = [file.name for file in folder.glob("*error*.py")]
    assert sorted(errors) == ["error.py", "error_error.py", "error_error_code.py"]
