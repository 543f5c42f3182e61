"""The map from a request to its object as a part of nginx's configuration, for tree.conf.

nginx reads paths and values undecoded, so what is written with percent signs has no object here.
"""

import re
from collections.abc import Mapping

from generator.storage import layout
from generator.storage.objects import API_FOLDER, RULES, ObjectParameter, ObjectRule

FIRST, LAST = "# Of the map of requests: `make golden` writes this part.\n", "# The end of that part.\n"
_ONCE = r"(?!(?:.*&)?([a-z_]+)=.*&\g{-1}=)"
_SLUG = "[A-Za-z0-9_-][A-Za-z0-9_.-]*"  # one that is its own file name
_OTHER_HEADERS = {f"{API_FOLDER}/{key}" for key in (layout.BULK_KEY, layout.FINGERPRINTS_KEY)}


def nginx_rules() -> str:
    """Return the variables of parameters with a default, and the map of `$file`."""
    rules = [rule for rule in RULES if rule.key.startswith(API_FOLDER) and rule.key not in _OTHER_HEADERS]
    rules = [rule for rule in rules if rule.query is not None]
    defaults = sorted({line for rule in rules for line in _defaults(rule)})
    files = [f'    "~^GET {_path(rule)}{_query(rule.query or {})}$" {_key(rule)};\n' for rule in rules]
    lines = [
        *defaults,
        'map "$request_method$http_x_build$any $request_uri" $file {\n',
        "    default none;\n",
        *files,
        "}\n",
    ]
    return "".join([FIRST, *lines, LAST])


def _in_key(rule: ObjectRule) -> dict[str, ObjectParameter]:
    names = re.findall(r"{(\w+)}", rule.key)
    return {name: one for name, one in (rule.query or {}).items() if name in names}


def _variable(name: str, one: ObjectParameter) -> str:
    if one.per_page:
        return f"$page_of_{one.per_page}"
    return f"$arg_{name}" if one.default is None else f"${name}_or_{one.default}"


def _defaults(rule: ObjectRule) -> list[str]:
    chosen = {name: one for name, one in _in_key(rule).items() if one.default is not None and not one.per_page}
    return [
        f'map $arg_{name} {_variable(name, one)} {{ default $arg_{name}; "" {one.default}; }}\n'
        for name, one in chosen.items()
    ]


def _key(rule: ObjectRule) -> str:
    variables = {name: _variable(name, one) for name, one in _in_key(rule).items()}
    parts = {name: f"${name}" for name in re.findall(r"\(\?<(\w+)>", rule.path_pattern)}
    return rule.key.removeprefix(f"{API_FOLDER}/").format_map(parts | variables)


def _path(rule: ObjectRule) -> str:
    return rule.path_pattern.replace("(?<slug>.+)", f"(?<slug>{_SLUG})")


def _query(parameters: Mapping[str, ObjectParameter]) -> str:
    if not parameters:
        return r"\??"
    names: dict[str, list[str]] = {}  # by pattern
    for name, one in parameters.items():
        names.setdefault(one.pattern, []).append(name)
    values = "|".join(f"{_either(group)}=(?:{pattern})" for pattern, group in names.items())
    wanted = [f"(?=(?:.*&)?{name}=)" for name, one in parameters.items() if one.default is None]
    query = rf"\?{_ONCE}{''.join(wanted)}(?:(?:{values})(?:&|$))*"
    return query if wanted else f"(?:{query})?"


def _either(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"(?:{'|'.join(names)})"
