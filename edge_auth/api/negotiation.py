"""Content negotiation: which of two media types a client prefers."""

import re

_PARAMETER = r""";\s*([\w!#$&^.+*'%|~-]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^\s;,"]*)\s*"""
_MEDIA_RANGE = re.compile(rf"\s*([\w!#$&^.+*-]+/[\w!#$&^.+*-]+)\s*((?:{_PARAMETER})*)(?:,|$)")
_QUALITY = re.compile(r"1(\.0{0,3})?|0(\.[0-9]{0,3})?")
_MAX_CHARACTERS = 4096  # a longer header is read as far as this


def prefers(accept: str, wanted: str, usual: str) -> bool:
    """Return whether a header Accept gives the type `wanted` a greater quality than the type `usual`.

    A range that names a type counts for it before `type/*`, and that before `*/*`. Parameters other than q are ignored.
    """
    qualities = _qualities(accept[:_MAX_CHARACTERS].lower())
    return _quality(qualities, wanted) > _quality(qualities, usual)


def _qualities(accept: str) -> dict[str, float]:
    """Return the quality of each media range, the greatest if a range is repeated. A malformed element is skipped."""
    found: dict[str, float] = {}
    for media_range, parameters, *_ in _MEDIA_RANGE.findall(accept):
        quality = next((value for name, value in re.findall(_PARAMETER, parameters) if name == "q"), "1").strip('"')
        if _QUALITY.fullmatch(quality):
            found[media_range] = max(found.get(media_range, 0.0), float(quality))
    return found


def _quality(qualities: dict[str, float], media_type: str) -> float:
    kind = media_type.partition("/")[0]
    ranges = (media_type, f"{kind}/*", "*/*")
    return next((qualities[name] for name in ranges if name in qualities), 0.0)
