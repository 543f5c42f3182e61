"""Checks that Python and the libraries have the versions that the package requires."""

import platform
import re
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata, requires, version

from generator.reading.doctor.findings import Finding, ok, problem, warning

_REQUIREMENT = re.compile(r"""([A-Za-z0-9._-]+)(?:\[[^]]*\])?>=([0-9.]+)(?:\s*;\s*extra == ['"](\w+)['"])?""")
_ADVICE = "reinstall from requirements.lock (`make setup` in a checkout)"


def check_versions() -> Iterator[Finding]:
    """Check Python, then all libraries together."""
    try:
        needed, wanted = metadata("cardpress")["Requires-Python"].removeprefix(">="), requires("cardpress") or []
    except PackageNotFoundError:
        yield problem("python", "cardpress is importable but not installed", _ADVICE)
        return
    if sys.version_info < _numbers(needed):
        yield problem("python", f"{platform.python_version()}, cardpress needs {needed}", "run it with a newer Python")
    else:
        yield ok("python", f"{platform.python_version()}, cardpress {version('cardpress')}")
    yield from _libraries(wanted)


def _libraries(wanted: list[str]) -> Iterator[Finding]:
    required = [match.groups() for match in map(_REQUIREMENT.fullmatch, wanted) if match]
    missing = [f"{name} {minimum}" for name, minimum, extra in required if not extra and not _installed(name, minimum)]
    optional = [name for name, minimum, extra in required if extra == "fingerprint" and not _installed(name, minimum)]
    if missing:
        yield problem("libraries", f"too old or missing: {', '.join(missing)} or newer", _ADVICE)
    elif optional:
        message = f"not installed: {', '.join(optional)}; `cardpress fingerprint` does not work without"
        yield warning("libraries", message, "pip install 'pillow>=12.1' if you need it")
    else:
        yield ok("libraries", f"{sum(1 for _, _, extra in required if not extra)} libraries, none too old")


def _installed(name: str, minimum: str) -> bool:
    try:
        return _numbers(version(name)) >= _numbers(minimum)
    except PackageNotFoundError:
        return False


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(digits) for digits in re.findall("[0-9]+", text.partition("+")[0])[:3])
