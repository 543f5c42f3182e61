"""Joins the modules of a page into one script, so that a slow link has one round trip for all of them."""

import posixpath
import re
from collections.abc import Callable

from generator.errors import SiteError

_IMPORT = re.compile(r'^import (?:\{([^}]*)\} from )?"(\.[^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async function|function\*?|class|const) (\w+))", re.MULTILINE)
_EXPORTED = re.compile(r"^export \{([^}]*)\};\n", re.MULTILINE)
_UNREADABLE = re.compile(r"^(?:import\b(?!\()|export\b).*", re.MULTILINE)
_COMMENT = re.compile(r"^\s*//.*\n|^\s*/\*\*(?:.|\n)*?\*/\n", re.MULTILINE)


def bundle(entry: str, read: Callable[[str], str]) -> str:
    """Return a module and all that it imports as one script: each in a function of its own, after those it imports.

    Args:
        entry: The key of the module.
        read: Returns the text of a module by its key.

    Raises:
        SiteError: A module imports or exports in a form that is not known here, or imports itself by way of others.
    """
    scripts: dict[str, str] = {}

    def add(key: str, importers: tuple[str, ...]) -> None:
        if key in importers:
            raise SiteError(
                f"{key} imports itself by way of {', '.join(importers)}: move what both need to a third one"
            )
        if key in scripts:
            return
        text = read(key)
        for _, path in _IMPORT.findall(text):
            add(_key(key, path), (*importers, key))
        scripts[key] = _script(key, text)

    add(entry, ())
    return "".join(scripts.values())


def _key(importer: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(importer), path))


def _name(key: str) -> str:
    """Return the name of the object that holds what a module exports."""
    return "$" + re.sub(r"\W", "_", key)


def _script(key: str, text: str) -> str:
    def names_of(found: re.Match[str]) -> str:
        names = (found[1] or "").replace(" as ", ": ")
        return f"const {{{names}}} = {_name(_key(key, found[2]))};\n" if names else ""

    exported = ", ".join([*(name for _, name in _EXPORT.findall(text)), *_EXPORTED.findall(text)])
    body = _EXPORTED.sub("", _EXPORT.sub(r"\1", _IMPORT.sub(names_of, _COMMENT.sub("", text))))
    if left := _UNREADABLE.search(body):
        raise SiteError(
            f'{key}: write {left[0]!r} as `import {{…}} from "./….js";`, or as an export of a declaration or a list'
        )
    return f"const {_name(key)} = (() => {{\n{body}return {{{exported}}};\n}})();\n"
