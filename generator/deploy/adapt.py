"""Reads the examples of a kind, with other texts in place of theirs."""

import re
from collections.abc import Mapping
from pathlib import Path

EXAMPLES = Path(__file__).with_name("examples")


def adapted(kind: str, instead: Mapping[str, str]) -> dict[str, str]:
    """Return the files of the folder `examples/KIND` by their path below it.

    Args:
        instead: What stands in place of which text, wherever the examples have it. A text is a value, or a line with
            its end. Where two begin at one place, the longer one counts.
    """
    folder = EXAMPLES / kind
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    files = {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in paths}
    if not instead:
        return files
    pattern = re.compile("|".join(map(re.escape, sorted(instead, key=len, reverse=True))))
    return {name: pattern.sub(lambda found: instead[found[0]], text) for name, text in files.items()}
