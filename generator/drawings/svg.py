"""Drawings as SVG documents: the templates with a product's numbers and texts."""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import pyarrow as pa
import pyarrow.compute as pc

from generator.drawings.design import Texts, labels, numbers

_PLACE = re.compile(r"\{(\w+)\}")


@cache
def template(name: str) -> str:
    """Return the template `single` or `sealed`, without line breaks."""
    return files("generator.drawings").joinpath(f"{name}.svg").read_text("utf-8").replace("\n", "")


def svgs(texts: Texts, sealed: pa.Array) -> pa.Array:
    """Return the drawing of each product.

    Args:
        sealed: Whether each product is sealed.
    """
    values = {name: pa.array(column).cast(pa.string()) for name, column in numbers(texts).items()} | dict(labels(texts))
    return pc.if_else(sealed, _filled("sealed", values), _filled("single", values))


def _filled(name: str, values: Mapping[str, pa.Array]) -> pa.Array:
    parts = _PLACE.split(template(name))  # text and names in turn
    columns = [values[part] if at % 2 else part for at, part in enumerate(parts)]
    return pc.binary_join_element_wise(*columns, "")
