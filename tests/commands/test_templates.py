"""Compiled templates are kept in the user's cache folder. Without the folder, or with damaged files, all works."""

from collections.abc import Iterator
from pathlib import Path

import jinja2
import pytest

from generator.templates import compiled_templates, environment


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Set the user's cache folder, beside a template."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    compiled_templates.cache_clear()
    (tmp_path / "text.j2").write_text("{{ n }} cards")
    yield folder
    compiled_templates.cache_clear()


def rendered(folder: Path) -> str:
    return environment(folder, autoescape=False).get_template("text.j2").render(n=2)


def test_a_template_is_compiled_once(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert rendered(tmp_path) == "2 cards"
    monkeypatch.setattr(jinja2.Environment, "compile", None)
    assert rendered(tmp_path) == "2 cards"
    assert len(list(cache.rglob("*.cache"))) == 1


def test_a_damaged_file_is_written_again(cache: Path, tmp_path: Path) -> None:
    rendered(tmp_path)
    [file] = cache.rglob("*.cache")
    whole = file.read_bytes()
    for damaged in (b"", b"\x00" * 400, whole[: len(whole) // 2], whole[:20]):
        file.write_bytes(damaged)
        assert rendered(tmp_path) == "2 cards"
        assert file.read_bytes() == whole


def test_no_folder_is_needed(cache: Path, tmp_path: Path) -> None:
    cache.write_text("a file where the folder should be")
    assert compiled_templates() is None
    assert rendered(tmp_path) == "2 cards"
