"""Files that are small on disk and large in memory: one clear line, and nothing is imported."""

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from tests.support.commands import run
from tests.support.programs import shell_program
from tests.support.selection import mostly_thorough

DOCUMENT = {"version": 1, "createdAt": "2026-07-26T10:55:29+0200", "products": []}
LINE = json.dumps({"slug": "a", "checked_at": "2026-07-26T12:00:00Z"}).encode()


def refusal(*arguments: object) -> str:
    """The one line that a refused command prints."""
    result = run(*arguments, status=1)
    [line] = [line for line in result.stderr.splitlines() if line.startswith("cardpress: ")]
    assert result.stdout == "" and len(line) < 500
    return line


@pytest.fixture
def lake(tmp_path: Path):
    """A lake that must stay empty."""
    yield tmp_path / "lake"
    assert not list((tmp_path / "lake").rglob("*.parquet"))


@pytest.mark.parametrize("pack", mostly_thorough([bytes, gzip.compress], gzip.compress))
@pytest.mark.thorough
def test_a_download_file_that_is_too_large(lake: Path, tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    bomb = tmp_path / "bomb.json"
    bomb.write_bytes(pack(json.dumps(DOCUMENT).encode() + b" " * (65 << 20)))
    line = refusal("ingest", "cardmarket", "--lake", lake, "--singles", bomb)
    assert f"{bomb}: more than 67 MB after inflating" in line and "--max-file-mb" in line
    run("ingest", "cardmarket", "--lake", tmp_path / "other", "--singles", bomb, "--max-file-mb", 70)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"slug": "' + b"a" * (1 << 21) + b'"}', "line 1 has more than 1,048,576 bytes"),
        (LINE + b"\n" + b" " * (1 << 21), "line 2 has more than"),
        (b"\n".join([LINE] * 40_000), "more than 1 MB after inflating"),
        (b"[]\n" * 100_002, "and 100,000 more lines: is it the right file?"),
    ],
    ids=["a long line", "blanks", "many lines", "many wrong lines"],
)
@pytest.mark.thorough
def test_lines_that_are_too_long_or_too_many(lake: Path, tmp_path: Path, content: bytes, words: str) -> None:
    bomb, bad = tmp_path / "bomb.jsonl.gz", tmp_path / "bad.jsonl"
    bomb.write_bytes(gzip.compress(content))
    limit = 1 if len(content) < 1 << 21 else 3
    assert words in refusal("ingest", "watch-checks", "--lake", lake, bomb, "--bad-lines", bad, "--max-file-mb", limit)
    assert not bad.exists()


def index(lake: Path, image: Path, *more: object) -> str:
    return refusal("fingerprint", "index", image, "--lake", lake, *more)


def test_an_image_of_many_pixels(lake: Path, tmp_path: Path) -> None:
    image = tmp_path / "card.png"
    Image.new("1", (13_000, 13_000)).save(image)
    assert image.stat().st_size < 100_000
    assert f"{image}: 13000 × 13000 pixels, more than 25 megapixels" in index(lake, image)
    assert "more than 100 megapixels" in index(lake, image, "--max-megapixels", 100)


def test_an_image_file_that_is_large(lake: Path, tmp_path: Path) -> None:
    image = tmp_path / "card.png"
    Image.new("RGB", (64, 64)).save(image)
    with image.open("ab") as file:
        file.truncate(33 << 20)
    assert f"{image}: 35 MB, more than 34: --max-image-mb" in index(lake, image)


def test_no_image_starts_a_program(lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pillow would start Ghostscript for EPS."""
    started, ghostscript = tmp_path / "started", tmp_path / "bin" / "gs"
    shell_program(ghostscript, f"touch {started}")
    monkeypatch.setenv("PATH", f"{ghostscript.parent}{os.pathsep}{os.environ['PATH']}")
    image = tmp_path / "card.png"
    image.write_text("%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 64 64\n%%EndComments\n%%EOF\n")
    assert "cannot be read as an image: no known format" in index(lake, image)
    assert not started.exists()
