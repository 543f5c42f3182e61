"""Drawings of a large lake are made in parts: the layer has the same bytes, whatever the size of a part."""

from pathlib import Path

import pyarrow as pa
import pytest

from generator.demo.lake import write_demo
from generator.making.layers import site
from generator.pack.writer import Member
from tests.support.commands import build


@pytest.mark.thorough
def test_the_size_of_a_part_does_not_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_demo(tmp_path / "lake", 60, 1, 1)
    expected = _layer(tmp_path, "whole")
    monkeypatch.setattr(site, "_DRAWINGS_PER_THREAD", 7)
    parts: list[int] = []
    pictures = site._pictures

    def counted(rows: pa.Table) -> list[Member]:
        parts.append(len(rows))
        return pictures(rows)

    monkeypatch.setattr(site, "_pictures", counted)
    assert _layer(tmp_path, "parts") == expected
    assert len(parts) > 3 and sorted(parts)[1:] == [7] * (len(parts) - 1)  # the last one may be shorter


def _layer(place: Path, store: str) -> dict[str, bytes]:
    """Return the files of the layer of the drawings in a new store."""
    build(place / "lake", place / store)
    (folder,) = (place / store / "layers" / "drawings").iterdir()
    return {f"{folder.name}/{path.name}": path.read_bytes() for path in folder.iterdir()}
