"""Measures how well and how fast photos are recognised: 20,000 invented cards, some of them photographed in every way.

    python -m bench.fingerprint [--cards N] [--photographed N] [--workers N]

The figures of docs/fingerprint.md are from its tables. All cards are drawn from fixed seeds, so recall is the same each
time.
"""

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

from bench.drawn_cards import KINDS, PHOTOS, draw_card, kind_of, photos
from generator.fingerprints.match import References, distances, from_index, views
from generator.fingerprints.recipe import VERSION, Fingerprint, fingerprint

Array = np.ndarray[Any, np.dtype[Any]]


def reference(number: int) -> Fingerprint:
    """Return the fingerprint of a card's reference image."""
    return fingerprint(np.asarray(draw_card(number)))


def photographed(number: int) -> list[tuple[list[Fingerprint], float]]:
    """Return, for a card's photo in each way, the fingerprints of its views and the CPU seconds that they took."""
    results = []
    for _, photo in photos(number, draw_card(number)):
        pixels, start = np.asarray(photo), time.thread_time()
        results.append(([fingerprint(view) for view in views(pixels)], time.thread_time() - start))
    return results


def references_of(fingerprints: list[Fingerprint]) -> References:
    """Return an index whose keys sort by the cards' numbers."""
    entries = [{"key": f"{n:06}", **found.texts(), "products": [n]} for n, found in enumerate(fingerprints)]
    return from_index("bench", {"version": VERSION, "image_url": "{key}", "entries": entries})


def ranks(distance: Array, number: int) -> tuple[int, float, float]:
    """Return how many entries are nearer than the right one, its distance, and that of the nearest wrong one."""
    right = distance[number]
    return int((distance < right).sum()), float(right), float(np.delete(distance, number).min())


def report(cards: list[int], found: Array, milliseconds: Array, total: int) -> None:
    """Print the tables.

    Args:
        cards: Numbers of the photographed cards.
        found: Ranks for one view and for all views, shape (cards, ways, 2, 3).
        milliseconds: CPU time of views and of search, shape (cards × ways, 2).
        total: How many cards the index holds.
    """
    print(f"\n{len(cards)} of {total:,} cards, one photo each in every way\n")
    print("| photo | recall at 1 | at 5 | one view only: at 1 | at 5 | distance, median | 95 % | nearest wrong, 5 % |")
    print("|---|---|---|---|---|---|---|---|")
    for way, name in enumerate(PHOTOS):
        one, seven = found[:, way, 0], found[:, way, 1]
        shares = [100 * (of_them[:, 0] < top).mean() for of_them in (seven, one) for top in (1, 5)]
        spread = [np.median(seven[:, 1]), np.quantile(seven[:, 1], 0.95), np.quantile(seven[:, 2], 0.05)]
        print(f"| {name} | " + " | ".join([f"{v:.1f} %" for v in shares] + [f"{v:.0f}" for v in spread]) + " |")
    print("\n| card | photographed | recall at 1 | at 5 |\n|---|---|---|---|")
    kinds = np.array([kind_of(number) for number in cards])
    for kind in KINDS:
        ranked = found[kinds == kind][:, :, 1, 0]
        if len(ranked):
            recall = " | ".join(f"{100 * (ranked < top).mean():.1f} %" for top in (1, 5))
            print(f"| {kind} | {len(ranked)} | {recall} |")
    views_ms, search_ms = np.median(milliseconds, 0)
    print(f"\none match, CPU time: seven views and fingerprints {views_ms:.1f} ms, search {search_ms:.1f} ms")


def main() -> None:
    """Draw, fingerprint, photograph, search, report."""
    parser = argparse.ArgumentParser(description="Measure how well and how fast photos are recognised.")
    parser.add_argument("--cards", type=int, default=20_000)
    parser.add_argument("--photographed", type=int, default=300)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    options = parser.parse_args()
    cards = sorted(np.random.default_rng(1).choice(options.cards, options.photographed, replace=False).tolist())
    with ProcessPoolExecutor(options.workers) as pool:
        print(f"drawing {options.cards:,} cards", file=sys.stderr)
        references = references_of(list(pool.map(reference, range(options.cards), chunksize=50)))
        print(f"photographing {len(cards)}", file=sys.stderr)
        taken = list(pool.map(photographed, cards, chunksize=5))
    found, milliseconds = [], []
    for number, ways in zip(cards, taken, strict=True):
        for fingerprints, seconds in ways:
            start = time.thread_time()
            by_view = distances(fingerprints, references)
            nearest = by_view.min(0)
            milliseconds.append((1000 * seconds, 1000 * (time.thread_time() - start)))
            found.append((ranks(by_view[0], number), ranks(nearest, number)))
    shape = (len(cards), len(PHOTOS), 2, 3)
    report(cards, np.array(found).reshape(shape), np.array(milliseconds), options.cards)


if __name__ == "__main__":
    main()
