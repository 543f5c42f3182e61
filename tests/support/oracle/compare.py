"""Compares a JSON body with the one expected: order of keys does not matter, types do."""

import json
from collections.abc import Iterator
from typing import Any


def differences(expected: Any, got: Any, at: str = "") -> list[str]:
    """One short line for each place where the two differ; empty when they say the same.

    Where a price is expected (a float), an integer that is equal will do; where an integer is expected,
    only an integer will.
    """
    return list(_walk(expected, got, at or "body"))


def _walk(expected: Any, got: Any, at: str) -> Iterator[str]:
    if isinstance(expected, dict) and isinstance(got, dict):
        yield from _walk_object(expected, got, at)
    elif isinstance(expected, list) and isinstance(got, list):
        yield from _walk_array(expected, got, at)
    elif not _same(expected, got):
        yield f"{at}: expected {_short(expected)}, got {_short(got)}"


def _walk_object(expected: dict, got: dict, at: str) -> Iterator[str]:
    for name in expected.keys() - got.keys():
        yield f"{at}.{name}: missing, expected {_short(expected[name])}"
    for name in got.keys() - expected.keys():
        yield f"{at}.{name}: not expected, got {_short(got[name])}"
    for name in expected.keys() & got.keys():
        yield from _walk(expected[name], got[name], f"{at}.{name}")


def _walk_array(expected: list, got: list, at: str) -> Iterator[str]:
    if len(expected) != len(got):
        yield f"{at}: expected {len(expected)} items {_short(expected)}, got {len(got)} {_short(got)}"
        return
    for place, (one, other) in enumerate(zip(expected, got, strict=True)):
        yield from _walk(one, other, f"{at}[{place}]")


def _same(expected: Any, got: Any) -> bool:
    if isinstance(expected, float):
        return isinstance(got, int | float) and not isinstance(got, bool) and expected == got
    return type(expected) is type(got) and expected == got


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) < 160 else f"{text[:150]}…{len(text)}"
