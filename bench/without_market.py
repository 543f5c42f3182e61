"""Runs `cardpress` without the layers of the market, so that a benchmark can tell what they cost."""

from typing import Any
from unittest.mock import patch

from generator.cli import main
from generator.making import make
from generator.making.layers import all as layers
from generator.making.layers.all import define_layers
from generator.making.layers.bulk import bulk_layers

_OF_MARKET = ("market", "bulk-market")  # how the names of the layers begin


def _others(layers: list[Any]) -> list[Any]:
    return [layer for layer in layers if not layer.name.startswith(_OF_MARKET)]


if __name__ == "__main__":
    with (
        patch.object(layers, "bulk_layers", lambda lake, parts: bulk_layers(lake, _others(parts))),
        patch.object(make, "define_layers", lambda context: _others(define_layers(context))),
    ):
        main()
