"""The changelog for users of the API: CHANGELOG.md without what only operators notice."""

import re
from importlib.resources import files
from pathlib import Path

_FOR_CLIENTS = "For clients of the API:"


def api_changes() -> str:
    """Return the parts of CHANGELOG.md below "For clients of the API:", with the headings that have any."""
    kept: list[str] = []
    headings: dict[str, str] = {}
    wanted = False
    for block in re.split(r"\n{2,}", _changelog().strip())[1:]:
        level = block[: len(block) - len(block.lstrip("#"))]
        if level:
            wanted = False
            headings = {other: text for other, text in headings.items() if other < level} | {level: block}
        elif block.startswith("For "):
            wanted = block == _FOR_CLIENTS
        elif wanted:
            kept += [*headings.values(), block]
            headings = {}
    return "\n\n".join(kept) + "\n"


def _changelog() -> str:
    """Return CHANGELOG.md of the checkout or of the installed wheel, without the brackets around versions."""
    packaged = Path(str(files("generator"))) / "_CHANGELOG.md"
    path = packaged if packaged.is_file() else Path(__file__).parents[2] / "CHANGELOG.md"
    return re.sub(r"^## \[([^]]+)\]", r"## \1", path.read_text("utf-8"), flags=re.MULTILINE)
