"""Whether this Python and these libraries are what the package asks for."""

import platform
import re
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata, requires, version

from generator.reading.doctor.findings import Finding, ok, problem, warning

_REQUIREMENT = re.compile(r"""([A-Za-z0-9._-]+)(?:\[[^]]*\])?>=([0-9.]+)(?:\s*;\s*extra == ['"](\w+)['"])?""")
_ADVICE = "install again from requirements.lock (`make setup` in a checkout)"


def check_versions() -> Iterator[Finding]:
    """Python, then the libraries together."""
    try:
        needed, wanted = metadata("cardpress")["Requires-Python"].removeprefix(">="), requires("cardpress") or []
    except PackageNotFoundError:
        yield problem("python", "cardpress is not installed, only found", _ADVICE)
        return
    if sys.version_info < _numbers(needed):
        yield problem("python", f"{platform.python_version()}, cardpress needs {needed}", "run it with a newer Python")
    else:
        yield ok("python", f"{platform.python_version()}, cardpress {version('cardpress')}")
    yield from _libraries(wanted)


def _libraries(wanted: list[str]) -> Iterator[Finding]:
    found = [match.groups() for match in map(_REQUIREMENT.fullmatch, wanted) if match]
    lacking = [f"{name} {least}" for name, least, extra in found if not extra and not _installed(name, least)]
    optional = [name for name, least, extra in found if extra == "fingerprint" and not _installed(name, least)]
    if lacking:
        yield problem("libraries", f"too old or missing: {', '.join(lacking)} or newer", _ADVICE)
    elif optional:
        told = f"no {', '.join(optional)}, so `cardpress fingerprint` does not work"
        yield warning("libraries", told, "install cardpress[fingerprint] if it is wanted")
    else:
        yield ok("libraries", f"{sum(1 for _, _, extra in found if not extra)} of them, none too old")


def _installed(name: str, least: str) -> bool:
    try:
        return _numbers(version(name)) >= _numbers(least)
    except PackageNotFoundError:
        return False


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(digits) for digits in re.findall("[0-9]+", text.partition("+")[0])[:3])
