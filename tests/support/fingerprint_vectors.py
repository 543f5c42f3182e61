"""The test vectors in docs/, computed without the product from their pictures.

Areas are averaged over exact fractions, pixel by pixel; hashes are those of the definition, summed with math.fsum, and
those of ImageHash.
"""

import math
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from statistics import median

import imagehash
from PIL import Image, ImageOps

SYMMETRIC = ("flat", "mirrored")  # half of their frequencies are 0, where ImageHash's bits are noise
Grid = list[list[tuple[int, ...]]]


def vector(path: Path) -> dict:
    """Return the result of each step of the recipe for a picture."""
    pixels, (width, height) = _rgb(path)
    edges = [
        _half_up(Fraction(n * percent, 100)) for n, percent in ((width, 8), (height, 11), (width, 92), (height, 50))
    ]
    left, top, right, bottom = edges
    art = [row[left:right] for row in pixels[top:bottom]]
    squares = {"art_32": _grey(_average(art, 32, 32)), "art_9x8": _grey(_average(art, 9, 8))}
    squares["card_32"] = _grey(_average(pixels, 32, 32))
    return {
        "file": f"{path.parent.name}/{path.name}",
        "width": width,
        "height": height,
        "art_box": edges,
        "grey": {name: bytes(value for row in square for value in row).hex() for name, square in squares.items()},
        "art_p": _phash(squares["art_32"]),
        "art_d": _dhash(squares["art_9x8"]),
        "card_p": _phash(squares["card_32"]),
        "colour": bytes(value for row in _average(art, 4, 4) for cell in row for value in cell).hex(),
    }


def _rgb(path: Path) -> tuple[Grid, tuple[int, int]]:
    """Return the rows of the upright picture as (r, g, b), on white."""
    with Image.open(path) as image:
        upright = ImageOps.exif_transpose(image).convert("RGBA")
    width, height = upright.size
    flat = [
        tuple(_half_up(Fraction(v * p[3] + 255 * (255 - p[3]), 255)) for v in p[:3])
        for p in upright.get_flattened_data()
    ]
    return [flat[y * width : (y + 1) * width] for y in range(height)], (width, height)


def _average(picture: Grid, columns: int, rows: int) -> Grid:
    """Return the mean over each cell's area, as fractions."""
    down, across = _overlaps(len(picture), rows), _overlaps(len(picture[0]), columns)
    area = Fraction(len(picture) * len(picture[0]), rows * columns)
    cells = []
    for some in down:
        band = [[sum(part * picture[y][x][c] for y, part in some) for c in range(3)] for x in range(len(picture[0]))]
        cells.append([tuple(_half_up(sum(p * band[x][c] for x, p in few) / area) for c in range(3)) for few in across])
    return cells


def _overlaps(length: int, cells: int) -> list[list[tuple[int, Fraction]]]:
    """Return for each cell the pixels that it touches and the covered share of each."""
    borders = [Fraction(length * cell, cells) for cell in range(cells + 1)]
    return [
        [(n, min(Fraction(n + 1), last) - max(Fraction(n), first)) for n in range(math.floor(first), math.ceil(last))]
        for first, last in pairwise(borders)
    ]


def _grey(cells: Grid) -> list[list[int]]:
    return [[(19595 * r + 38470 * g + 7471 * b + 32768) // 65536 for r, g, b in row] for row in cells]


def _phash(square: list[list[int]]) -> str:
    """Compute the DCT from its definition."""
    cosine = [[2 * math.cos(math.pi * k * (2 * n + 1) / 64) for n in range(32)] for k in range(8)]
    frequencies = [
        math.floor(
            1024 * math.fsum(v * cosine[i][y] * cosine[j][x] for y, row in enumerate(square) for x, v in enumerate(row))
            + 0.5
        )
        for i in range(8)
        for j in range(8)
    ]
    middle = median(frequencies)
    return _hex(value > middle for value in frequencies)


def _dhash(cells: list[list[int]]) -> str:
    return _hex(right > left for row in cells for left, right in pairwise(row))


def _hex(bits) -> str:
    return f"{int(''.join('1' if bit else '0' for bit in bits), 2):016x}"


def _half_up(value: Fraction) -> int:
    return math.floor(value + Fraction(1, 2))


def by_imagehash(entry: dict) -> dict[str, str]:
    """Return the three hashes that ImageHash computes from the grey squares."""
    sizes = {"art_32": (32, 32), "art_9x8": (9, 8), "card_32": (32, 32)}
    images = {name: Image.frombytes("L", sizes[name], bytes.fromhex(data)) for name, data in entry["grey"].items()}
    art, cells, card = images["art_32"], images["art_9x8"], images["card_32"]
    return {
        "art_p": str(imagehash.phash(art)),
        "art_d": str(imagehash.dhash(cells)),
        "card_p": str(imagehash.phash(card)),
    }
