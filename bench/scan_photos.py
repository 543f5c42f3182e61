"""Invented photos of whole scenes: a drawn card lies on a table at any angle, and a camera looks at it.

`bench.drawn_cards` photographs cards that are cut at their edges. Here the card has to be found first.
"""

from collections.abc import Callable, Iterator

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from bench.drawn_cards import HEIGHT, WIDTH, Random, compressed, cut, lit, stream_of

PHOTO_WIDTH, PHOTO_HEIGHT = 720, 960
_CARD_HEIGHT = (430, 640)  # pixels on the photo
_CORNER_PIXELS = 12  # radius of the corners of a card


def turned(card: Image.Image, rng: Random) -> Image.Image:
    """Lay a card on a plain table at any angle."""
    return _photo(card, rng, _plain(rng), 0)


def tilted(card: Image.Image, rng: Random) -> Image.Image:
    """Look at a card from the side, at any angle: its sides differ in length by up to a third."""
    return _photo(card, rng, _plain(rng), 0.16)


def lit_from_one_side(card: Image.Image, rng: Random) -> Image.Image:
    """Turn a card to any angle, in light of another brightness and tint that comes from one side."""
    return lit(_photo(card, rng, _plain(rng), 0.05), rng)


def on_wood(card: Image.Image, rng: Random) -> Image.Image:
    """Lay a card on a table with a pattern of stripes and spots, at any angle."""
    return _photo(card, rng, _wood(rng), 0.05)


def cropped(card: Image.Image, rng: Random) -> Image.Image:
    """Hold the camera so that up to a tenth of the card lies outside the photo, the card at most 10 degrees askew."""
    turn = rng.uniform(-10, 10) + 90 * int(rng.integers(4))
    outside = rng.uniform(0.03, 0.10)
    photo, corners = _scene(card, _plain(rng), _corners(rng, 0.03, turn))
    side = int(rng.integers(4))  # the side of the photo that cuts the card
    x, y = corners[:, 0], corners[:, 1]
    left, top = x.min() + outside * np.ptp(x), y.min() + outside * np.ptp(y)
    right, bottom = x.max() - outside * np.ptp(x), y.max() - outside * np.ptp(y)
    box = [0.0, 0.0, PHOTO_WIDTH, PHOTO_HEIGHT]
    box[side] = (left, top, right, bottom)[side]
    return photo.crop((round(box[0]), round(box[1]), round(box[2]), round(box[3])))


def compressed_small(card: Image.Image, rng: Random) -> Image.Image:
    """Scale a photo of a turned card to half, and compress it as JPEG of quality 10 to 50."""
    photo = _photo(card, rng, _plain(rng), 0.05)
    return compressed(photo.resize((PHOTO_WIDTH // 2, PHOTO_HEIGHT // 2), Image.Resampling.BILINEAR), rng)


def all_at_once(card: Image.Image, rng: Random) -> Image.Image:
    """Apply all changes but cropping: any angle, from the side, on a pattern, in other light, blurred, compressed."""
    photo = _photo(card, rng, _wood(rng) if rng.random() < 0.5 else _plain(rng), 0.10)
    photo = lit(photo.filter(ImageFilter.GaussianBlur(rng.uniform(0.3, 1.5))), rng)
    return compressed(photo, rng)


PHOTOS: dict[str, Callable[[Image.Image, Random], Image.Image]] = {
    "any angle": turned,
    "any angle, from the side": tilted,
    "any angle, light from one side": lit_from_one_side,
    "any angle, patterned table": on_wood,
    "up to 10 % of the card outside": cropped,
    "the card alone, cut up to ±4 %": cut,
    "small, JPEG quality 10–50": compressed_small,
    "all but cropped": all_at_once,
}


def photos(number: int, card: Image.Image) -> Iterator[tuple[str, Image.Image]]:
    """Yield a photo of a card in each way, with the name of the way."""
    for name, take in PHOTOS.items():
        yield name, take(card, np.random.default_rng((stream_of(f"scan {name}"), number)))


def photo_of(card: Image.Image, degrees: float) -> Image.Image:
    """Return a photo of a card that is turned by so many degrees and seen from the side, always the same."""
    rng = np.random.default_rng((stream_of("photo of"), int(degrees)))
    return _scene(card, _plain(rng), _corners(rng, 0.12, degrees))[0]


def _photo(card: Image.Image, rng: Random, table: Image.Image, tilt: float) -> Image.Image:
    return _scene(card, table, _corners(rng, tilt, rng.uniform(0, 360)))[0]


def _corners(rng: Random, tilt: float, degrees: float) -> np.ndarray:
    """Return where the corners of a card appear on the photo: (4, 2), from its top left in the order of a clock."""
    height = rng.uniform(*_CARD_HEIGHT)
    half = np.array([WIDTH / HEIGHT, 1]) * height / 2
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * half
    angle, away = np.radians(degrees), rng.uniform(0, 2 * np.pi)
    corners = corners @ np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    # a point that is farther away by a tilt appears nearer to the middle
    depth = 1 + tilt * rng.uniform(0.5, 1) * (corners @ [np.cos(away), np.sin(away)]) / (height / 2)
    corners = corners / depth[:, None]
    free = np.array([PHOTO_WIDTH, PHOTO_HEIGHT]) - np.ptp(corners, 0)
    placed: np.ndarray = corners - corners.min(0) + free * rng.uniform(0.15, 0.85, 2)
    return placed


def _scene(card: Image.Image, table: Image.Image, corners: np.ndarray) -> tuple[Image.Image, np.ndarray]:
    """Return a table with a card whose corners appear at these places."""
    shape = Image.new("L", card.size, 0)
    ImageDraw.Draw(shape).rounded_rectangle((0, 0, card.width - 1, card.height - 1), _CORNER_PIXELS, 255)
    size, way, how = (PHOTO_WIDTH, PHOTO_HEIGHT), Image.Transform.PERSPECTIVE, Image.Resampling.BICUBIC
    back = _backwards(corners, card.size)
    table.paste(card.transform(size, way, back, how), (0, 0), shape.transform(size, way, back, how))
    return table, corners


def _backwards(corners: np.ndarray, size: tuple[int, int]) -> list[float]:
    """Return Pillow's coefficients of the projection from the photo to the card."""
    width, height = size
    rows, values = [], []
    for (x, y), (u, v) in zip(corners, ((0, 0), (width, 0), (width, height), (0, height)), strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        values += [u, v]
    return [float(value) for value in np.linalg.solve(np.array(rows), np.array(values))]


def _plain(rng: Random) -> Image.Image:
    """Return a table of one colour with a little noise, lighter to one side."""
    colour = rng.uniform(30, 226, 3)
    x, y = np.meshgrid(np.linspace(-1, 1, PHOTO_WIDTH), np.linspace(-1, 1, PHOTO_HEIGHT))
    slope = 1 + rng.uniform(-0.1, 0.1) * x + rng.uniform(-0.1, 0.1) * y
    noise = rng.normal(0, 3, (PHOTO_HEIGHT, PHOTO_WIDTH, 1))
    return Image.fromarray(np.clip(colour * slope[..., None] + noise, 0, 255).astype(np.uint8))


def _wood(rng: Random) -> Image.Image:
    """Return a table with soft stripes and spots, up to 15 percent lighter or darker than its colour."""
    colour = rng.uniform(50, 200, 3)
    stripes = rng.normal(0, 0.06, (1, 40)).repeat(6, 0) + rng.normal(0, 0.03, (6, 40))
    grain = Image.fromarray(np.clip(128 + 500 * stripes, 0, 255).astype(np.uint8))
    upright = rng.random() < 0.5
    size = (PHOTO_WIDTH, PHOTO_HEIGHT) if upright else (PHOTO_HEIGHT, PHOTO_WIDTH)
    pattern = np.asarray(grain.resize(size, Image.Resampling.BICUBIC)).astype(float) - 128
    pattern = pattern if upright else pattern.T
    noise = rng.normal(0, 4, (PHOTO_HEIGHT, PHOTO_WIDTH, 1))
    pixels = colour * (1 + pattern[..., None] / 500) + noise
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))
