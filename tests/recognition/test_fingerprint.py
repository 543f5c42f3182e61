"""Photo recognition: the recipe against values worked out elsewhere, recall on drawn cards, the commands."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from bench.drawn_cards import PHOTOS, draw_card, photos
from generator.fingerprints.match import References, distances, from_index, match_photo
from generator.fingerprints.pictures import collect, open_picture
from generator.fingerprints.recipe import VERSION, Fingerprint, fingerprint
from tests.support import fingerprint_vectors
from tests.support.commands import build, issue, run
from tests.support.selection import mostly_thorough
from tests.support.service import ROOT, Service, environment

VECTORS = json.loads((ROOT / "docs" / "fingerprint-vectors.json").read_text())
PARTS = ("art_p", "art_d", "card_p", "colour")
CARDS = 300


@pytest.mark.parametrize("name", VECTORS["pictures"])
def test_recipe_gives_the_vectors(name: str) -> None:
    expected = VECTORS["pictures"][name]
    found = fingerprint(open_picture(ROOT / "docs" / expected["file"]))
    assert found.texts() == {part: expected[part] for part in PARTS}


@pytest.mark.parametrize("name", mostly_thorough(["card", "odd-size", "transparent", "turned"], "card"))
@pytest.mark.thorough
def test_vectors_are_what_plain_arithmetic_gives(name: str) -> None:
    expected = VECTORS["pictures"][name]
    assert fingerprint_vectors.vector(ROOT / "docs" / expected["file"]) == expected


@pytest.mark.parametrize("name", [name for name in VECTORS["pictures"] if name not in fingerprint_vectors.SYMMETRIC])
def test_vectors_are_imagehash_s(name: str) -> None:
    expected = VECTORS["pictures"][name]
    assert fingerprint_vectors.by_imagehash(expected) == {part: expected[part] for part in PARTS[:3]}


@pytest.mark.parametrize("expected", VECTORS["distances"], ids=lambda entry: " to ".join(entry["between"]))
def test_distance_gives_the_vectors(expected: dict) -> None:
    one, other = (_read(VECTORS["pictures"][name]) for name in expected["between"])
    assert distances([one], _references([other])).item() == pytest.approx(expected["distance"], abs=1e-9)


def _read(entry: dict) -> Fingerprint:
    return Fingerprint(*(int(entry[part], 16) for part in PARTS[:3]), bytes.fromhex(entry["colour"]))


def _references(fingerprints: list[Fingerprint]) -> References:
    entries = [{"key": f"{n:04}", "products": [n], **found.texts()} for n, found in enumerate(fingerprints)]
    return from_index("test", {"version": VERSION, "image_url": "https://i.example/{key}", "entries": entries})


@pytest.fixture(scope="session")
def drawn() -> References:
    return _references([fingerprint(np.asarray(draw_card(n))) for n in range(CARDS)])


@cache
def photos_of(n: int) -> dict[str, Image.Image]:
    """A drawn card, photographed in every way."""
    return dict(photos(n, draw_card(n)))


@pytest.mark.xdist_group("drawn cards")
@pytest.mark.parametrize("way", mostly_thorough(PHOTOS, "all, at half strength"))
@pytest.mark.thorough
def test_photos_are_recognised(drawn: References, way: str) -> None:
    sample = range(0, CARDS, 20)
    found = [match_photo(np.asarray(photos_of(n)[way]), drawn, 5) for n in sample]
    first = sum(matches[0].products == [n] for n, matches in zip(sample, found, strict=True))
    among = sum(any(m.products == [n] for m in matches) for n, matches in zip(sample, found, strict=True))
    assert first >= 0.92 * len(sample), first
    assert among == len(sample), among


@pytest.mark.xdist_group("drawn cards")
@pytest.mark.thorough
def test_another_card_is_far(drawn: References) -> None:
    nearest = [match_photo(np.asarray(draw_card(n)), drawn, 1)[0].distance for n in range(5000, 5020)]
    assert np.median(nearest) > 40


@pytest.mark.thorough
def test_processes_give_what_one_gives(tmp_path: Path) -> None:
    for n in range(80):  # more than are done without processes
        draw_card(n % 5).resize((63, 88)).save(tmp_path / f"c{n:02}.png")
    images = {path.stem: path for path in sorted(tmp_path.iterdir())}
    steps: list[int] = []
    both = collect(images, 2, steps.append)
    assert both == collect(images, 1, steps.append)
    assert len(steps) == 160


# the commands


@pytest.fixture(scope="session")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("images")
    (folder / "more").mkdir()
    for n in range(12):
        place = folder / "more" if n % 2 else folder
        draw_card(n).save(place / f"abc-{n}.{'png' if n % 3 else 'jpg'}")
    return folder


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """Products 100 to 111: of 100 to 107 an image URL names abc-N; all of `/shared/` show one file name."""
    folder = tmp_path / "lake"
    folder.mkdir()
    ids = list(range(100, 112))
    base = "https://scans.example"
    urls = [f"{base}/x/abc-{i - 100}.jpg?v=2" if i < 104 else f"{base}/ABC/{i - 100}.webp" for i in ids[:8]]
    columns = {
        "id_product": ids,
        "name": [f"Card {i}" for i in ids],
        "kind": ["single"] * 12,
        "image": [*urls, None, urls[0], f"{base}/y/large.png", f"{base}/z/large.png"],
        "image_large": pa.array([None] * 12, pa.string()),
    }
    pq.write_table(pa.table(columns), folder / "products.parquet")
    return folder


def index(images: Path, lake: Path, *more: object, status: int = 0) -> subprocess.CompletedProcess[str]:
    return run("fingerprint", "index", images, "--lake", lake, *more, status=status)


def entries(lake: Path) -> dict[str, dict]:
    return {row["key"]: row for row in pq.read_table(lake / "fingerprints.parquet").to_pylist()}


def test_index_build_serve_and_match(images: Path, lake: Path, tmp_path: Path) -> None:
    result = json.loads(index(images, lake, "--image-url", "https://i.example/{key}.webp", "--json").stdout)
    assert {name for name, count in result.items() if count} == {"entries", "new", "without_products"}
    assert (result["entries"], result["new"], result["without_products"]) == (12, 12, 4)
    store, photo = tmp_path / "store", tmp_path / "photo.jpg"
    build(lake, store, as_of="2026-01-01")
    served = json.loads(run("cat", "fingerprints.json", "--store", store).stdout)
    assert (served["version"], served["image_url"]) == ("cardpress-1", "https://i.example/{key}.webp")
    assert served["count"] == 12
    assert served["entries"] == [entries(lake)[key] for key in sorted(entries(lake))]
    assert entries(lake)["abc-5"]["products"] == [105]
    assert entries(lake)["abc-0"]["products"] == [100, 109]
    PHOTOS["all, at half strength"](draw_card(5), np.random.default_rng(1)).save(photo)
    with Service(store, tmp_path / "state") as service:
        url = f"http://127.0.0.1:{service.port}/api/v1/fingerprints"
        by_api = run("fingerprint", "match", photo, "--index", url, "--key", issue(store), "--json", "--top", 3)
        refused = run("fingerprint", "match", photo, "--index", url, "--key", "cpm_live_x", status=1)
        elsewhere = run("fingerprint", "match", photo, "--index", f"{url}/x", "--key", "x", status=1)
        keyless = run("fingerprint", "match", photo, "--index", url, status=1)
    assert "401" in refused.stderr
    assert "404" in elsewhere.stderr
    assert "CARDPRESS_KEY" in keyless.stderr
    found = json.loads(by_api.stdout)
    first, second, _ = found["matches"]
    assert (found["version"], found["entries"]) == ("cardpress-1", 12)
    assert (first["key"], first["products"], first["image"]) == ("abc-5", [105], "https://i.example/abc-5.webp")
    assert first["distance"] < 40 < second["distance"]
    file = tmp_path / "fingerprints.json"
    file.write_text(json.dumps(served))
    for place in (file, lake):
        again = run("fingerprint", "match", photo, "--index", place, "--json", "--top", 3)
        assert again.stdout == by_api.stdout, place
    assert run("fingerprint", "match", photo, "--index", lake, "--top", 1).stdout.split()[1:3] == ["abc-5", "105"]


def test_index_is_idempotent_merges_and_prunes(images: Path, lake: Path) -> None:
    index(images, lake)
    before = {path.name: path.read_bytes() for path in lake.iterdir()}
    index(images, lake, "--workers", 1)
    assert {path.name: path.read_bytes() for path in lake.iterdir()} == before
    one = images / "abc-4.png"
    result = json.loads(index(one, lake, "--json").stdout)
    assert (result["entries"], result["unchanged"], result["kept"]) == (12, 1, 11)
    result = json.loads(index(one, lake, "--prune", "--json").stdout)
    assert (result["entries"], result["pruned"]) == (1, 11)
    assert list(entries(lake)) == ["abc-4"]


def test_products_from_a_file(images: Path, lake: Path, tmp_path: Path) -> None:
    listed = {"abc-1": [7, 5, 7], "abc-2": 9, "unused": [1]}
    by_json, by_csv, wrong = tmp_path / "p.json", tmp_path / "p.csv", tmp_path / "wrong.json"
    by_json.write_text(json.dumps(listed))
    by_csv.write_text("\ufeffkey,id_product\nabc-1,7\nabc-1,5\nabc-2,9\n")
    for file in (by_json, by_csv):
        index(images, lake, "--products", file, "--prune")
        products = {key: row["products"] for key, row in entries(lake).items() if row["products"]}
        assert products == {"abc-1": [5, 7], "abc-2": [9]}
    for content in ('{"abc-1": ["7"]}', "[1]", "{", '{"a": true}', '{"a": 99999999999999999999}'):
        wrong.write_text(content)
        assert str(wrong) in index(images, lake, "--products", wrong, status=1).stderr


def test_products_by_id_but_never_by_a_name_that_many_share(lake: Path, tmp_path: Path) -> None:
    for name in ("110", "large"):
        draw_card(1).save(tmp_path / f"{name}.png")
    index(tmp_path / "110.png", lake)
    index(tmp_path / "large.png", lake)
    assert {key: row["products"] for key, row in entries(lake).items()} == {"110": [110], "large": []}


def test_broken_images(images: Path, lake: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "cut.png").write_bytes((images / "abc-4.png").read_bytes()[:900])
    (broken / "text.jpg").write_text("no image")
    Image.new("RGB", (31, 40)).save(broken / "small.png")
    (broken / "fine.png").write_bytes((images / "abc-4.png").read_bytes())
    refused = index(broken, lake, status=1)
    assert "cut.png" in refused.stderr
    assert "3 such images" in refused.stderr
    assert not (lake / "fingerprints.parquet").exists()
    result = index(broken, lake, "--skip-broken", "--json")
    assert json.loads(result.stdout)["broken"] == 3
    assert all(name in result.stderr for name in ("cut.png", "text.jpg", "small.png: 31 × 40"))
    assert list(entries(lake)) == ["fine"]


def test_what_is_refused(images: Path, lake: Path, tmp_path: Path) -> None:
    twin = tmp_path / "abc-4.jpg"
    draw_card(1).save(twin)
    both = run("fingerprint", "index", images, twin, "--lake", lake, status=1)
    assert "the same key, abc-4" in both.stderr
    odd = tmp_path / "a b.png"
    draw_card(1).save(odd)
    assert "becomes a key" in index(odd, lake, status=1).stderr
    assert "no images" in index(lake, lake, status=1).stderr
    assert "{key}" in index(images, lake, "--image-url", "https://i.example/", status=2).stderr
    index(twin, lake)
    (lake / "fingerprints.parquet").rename(lake / "fingerprints-others.parquet")
    taken = index(twin, lake, status=1)
    assert "fingerprints-others.parquet" in taken.stderr


def test_another_recipe_is_not_mixed(images: Path, lake: Path) -> None:
    index(images, lake, "--image-url", "https://i.example/{key}")
    recipe = lake / "fingerprints.json"
    recipe.write_text(recipe.read_text().replace("cardpress-1", "other-7"))
    assert "other-7" in index(images, lake, status=1).stderr
    assert "other-7" in run("fingerprint", "match", images / "abc-4.png", "--index", lake, status=1).stderr
    index(images, lake, "--prune")
    assert json.loads(recipe.read_text()) == {"version": "cardpress-1", "image_url": "{key}"}


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "{}", '{"version": "cardpress-1", "image_url": "{key}", "entries": [1]}']
)
def test_match_refuses_what_is_no_index(images: Path, tmp_path: Path, content: str) -> None:
    file = tmp_path / "index.json"
    file.write_text(content)
    result = run("fingerprint", "match", images / "abc-4.png", "--index", file, status=1)
    assert str(file) in result.stderr
    assert result.stderr.count("\n") == 1


def test_without_pillow_one_line_names_the_extra(images: Path, lake: Path) -> None:
    code = "import sys; sys.modules['PIL'] = None; from generator.cli import main; main()"
    command = [sys.executable, "-c", code, "fingerprint", "index", str(images), "--lake", str(lake)]
    result = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=60)
    assert result.returncode == 1
    assert "pip install 'pillow>=12.1'" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.thorough
def test_products_option_has_its_own_variable(images: Path, lake: Path) -> None:
    """CARDPRESS_PRODUCTS is the demo's number of products."""
    command = [sys.executable, "-m", "generator", "fingerprint", "index", str(images), "--lake", str(lake)]
    env = environment() | {"CARDPRESS_PRODUCTS": "2000", "PATH": os.environ["PATH"]}
    assert subprocess.run(command, cwd=ROOT, env=env, capture_output=True, timeout=60).returncode == 0
