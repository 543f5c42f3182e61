"""Measures how well and how fast the scanner of the site finds the card on a photo of a whole scene.

    python -m bench.scan [--cards N] [--photographed N] [--workers N]

The table of docs/fingerprint.md about `/explore/scan` is from its output. The JavaScript module of the site runs in
Node.js. All cards and photos are drawn from fixed seeds, so recall is the same each time.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from bench.drawn_cards import draw_card
from bench.fingerprint import reference
from bench.scan_photos import PHOTOS, photos
from generator.fingerprints.recipe import VERSION
from generator.site import pages

_RUNNER = Path(__file__).with_name("scan.mjs")
_MODULES = ("fingerprint.js", "outline.js")


def index_of(total: int, pool: ProcessPoolExecutor) -> bytes:
    """Return an index of drawn cards as the API has it. The keys are the numbers of the cards."""
    drawn = pool.map(reference, range(total), chunksize=50)
    entries = [{"key": f"{n:06}", **found.texts(), "products": [n]} for n, found in enumerate(drawn)]
    return json.dumps({"version": VERSION, "image_url": "{key}", "entries": entries}).encode()


def message(data: bytes, **header: int) -> bytes:
    """Return a message of the runner: a line that gives the size, and the data."""
    return json.dumps(header | {"size": len(data)}).encode() + b"\n" + data


def photo_messages(number: int) -> Iterator[bytes]:
    """Yield the photos of a card, one in each way."""
    for _, photo in photos(number, draw_card(number)):
        rgba = photo.convert("RGBA")
        yield message(rgba.tobytes(), width=photo.width, height=photo.height)


def write_modules(folder: Path) -> None:
    """Write the modules as a build has them, where Node.js reads them as modules."""
    documents = pages.documents()
    for name in _MODULES:
        (folder / name).write_bytes(documents[f"explore/{name}"])
    (folder / "package.json").write_text('{"type": "module"}')


def recognised(cards: list[int], index: Path, modules: Path) -> list[list[Any]]:
    """Return the results of some cards by card and way."""
    messages = [message(index.read_bytes()), *(one for number in cards for one in photo_messages(number))]
    command = ["node", str(_RUNNER), str(modules)]
    process = subprocess.run(command, input=b"".join(messages), stdout=subprocess.PIPE, check=True)
    results = [json.loads(line) for line in process.stdout.splitlines()][1:]
    return [results[at : at + len(PHOTOS)] for at in range(0, len(results), len(PHOTOS))]


def report(cards: list[int], results: list[list[Any]], total: int) -> None:
    """Print the table, and the median times."""
    print(f"\n{len(cards)} of {total:,} cards, one photo each in every way\n")
    print("| photo | recall at 1 | at 5 | outline found | distance, median | 95 % |")
    print("|---|---|---|---|---|---|")
    for way, name in enumerate(PHOTOS):
        ways = [(f"{number:06}", of_card[way]) for number, of_card in zip(cards, results, strict=True)]
        shares = [np.mean([key in result["keys"][:top] for key, result in ways]) for top in (1, 5)]
        shares.append(np.mean([result["outline"] is not None for _, result in ways]))
        right = [result["distance"] for key, result in ways if key == result["keys"][0]] or [np.nan]
        figures = [f"{100 * share:.1f} %" for share in shares] + [f"{np.quantile(right, q):.0f}" for q in (0.5, 0.95)]
        print(f"| {name} | {' | '.join(figures)} |")
    both = [np.median([result[name] for one in results for result in one]) for name in ("all", "searching")]
    print(f"\na photo of 720 × 960 pixels: {both[0]:.0f} ms; one search with seven views: {both[1]:.0f} ms")


def main() -> None:
    """Draw, photograph, recognise, report."""
    parser = argparse.ArgumentParser(description="Measure how well and how fast the scanner finds cards.")
    parser.add_argument("--cards", type=int, default=30_000)
    parser.add_argument("--photographed", type=int, default=300)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    options = parser.parse_args()
    if shutil.which("node") is None:
        sys.exit("bench.scan needs Node.js 20 or newer: apt-get install nodejs")
    cards = sorted(np.random.default_rng(2).choice(options.cards, options.photographed, replace=False).tolist())
    parts = [cards[at : at + 5] for at in range(0, len(cards), 5)]
    with TemporaryDirectory() as name, ProcessPoolExecutor(options.workers) as pool:
        folder = Path(name)
        write_modules(folder)
        print(f"drawing {options.cards:,} cards", file=sys.stderr)
        (folder / "index.json").write_bytes(index_of(options.cards, pool))
        print(f"photographing {len(cards)}", file=sys.stderr)
        found = pool.map(partial(recognised, index=folder / "index.json", modules=folder), parts)
        report(cards, [one for part in found for one in part], options.cards)


if __name__ == "__main__":
    main()
