"""The test vectors in docs/, computed without the product: pictures drawn here, values by plain arithmetic.

    python -m tests.support.fingerprint_vectors

writes docs/fingerprint-vectors.json and the pictures in docs/fingerprint-vectors/ again. Areas are averaged over
exact fractions, pixel by pixel; hashes are those of the definition, summed with math.fsum, and those of ImageHash.
"""

import json
import math
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from statistics import median

import imagehash
from PIL import Image, ImageDraw, ImageOps

ROOT = Path(__file__).resolve().parents[2] / "docs"
FILE, FOLDER = ROOT / "fingerprint-vectors.json", ROOT / "fingerprint-vectors"
SYMMETRIC = ("flat", "mirrored")  # half of their frequencies are 0, where ImageHash's bits are noise
Grid = list[list[tuple[int, ...]]]


def pictures() -> dict[str, Image.Image]:
    """Return the pictures by name. `turned` is saved with the EXIF orientation that turns it upright."""
    card = _card(126, 176)
    clear = card.convert("RGBA")
    clear.putalpha(Image.linear_gradient("L").resize((126, 176)))
    half = card.crop((0, 0, 63, 176))
    mirrored = card.copy()
    mirrored.paste(ImageOps.mirror(half), (63, 0))
    return {
        "card": card,
        "other-light": card.point(lambda v: min(255, v * 5 // 4 + 3)),
        "odd-size": _card(101, 139),
        "smaller-than-the-grid": _card(32, 45),
        "landscape": _card(176, 126),
        "transparent": clear,
        "grey": card.convert("L"),
        "palette": card.quantize(16, dither=Image.Dither.NONE),
        "turned": card.transpose(Image.Transpose.ROTATE_90),
        "flat": Image.new("RGB", (126, 176), (90, 140, 200)),
        "mirrored": mirrored,
    }


def _card(width: int, height: int) -> Image.Image:
    """Draw smooth colours, a frame and three shapes. Integers only, so the result is the same on every machine."""
    card = Image.new("RGB", (width, height))
    values = [
        ((x * 255) // width, (y * 255) // height, (x * y * 3 + x * 7) * 255 // (width * height * 4) % 256)
        for y in range(height)
        for x in range(width)
    ]
    card.putdata(values)
    pen = ImageDraw.Draw(card)
    pen.rectangle((width // 8, height // 6, width // 3, height // 3), fill=(240, 220, 30))
    pen.rectangle((width // 2, height // 4, width * 4 // 5, height * 2 // 5), fill=(20, 40, 90))
    pen.rectangle((width // 10, height * 3 // 5, width * 9 // 10, height * 9 // 10), fill=(230, 230, 210))
    pen.rectangle((0, 0, width - 1, height - 1), outline=(250, 200, 40), width=max(1, width // 20))
    return card


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
        "file": f"{FOLDER.name}/{path.name}",
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


def distance(one: dict, other: dict) -> dict[str, float]:
    """Return the parts of the distance between two vectors, and the distance."""
    bits = {n: (int(one[n], 16) ^ int(other[n], 16)).bit_count() for n in ("art_p", "art_d", "card_p")}
    first, second = bytes.fromhex(one["colour"]), bytes.fromhex(other["colour"])
    off = [a - b for a, b in zip(first, second, strict=True)]
    means = [Fraction(sum(off[c::3]), 16) for c in range(3)]
    colour = sum(abs(value - means[place % 3]) for place, value in enumerate(off)) / 48
    return bits | {"colour": float(colour), "distance": float(sum(bits.values()) + colour / 2)}


def write() -> None:
    FOLDER.mkdir(exist_ok=True)
    entries = {}
    for name, picture in pictures().items():
        exif = Image.Exif()
        exif[0x0112] = 6
        picture.save(FOLDER / f"{name}.png", optimize=True, **({"exif": exif} if name == "turned" else {}))
        entries[name] = vector(FOLDER / f"{name}.png")
    pairs = [("card", "card"), ("card", "other-light"), ("card", "odd-size"), ("card", "mirrored"), ("card", "flat")]
    far = [{"between": pair, **distance(entries[pair[0]], entries[pair[1]])} for pair in pairs]
    content = {"version": "cardpress-1", "pictures": entries, "distances": far}
    FILE.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    write()
