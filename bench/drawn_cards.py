"""Invented pictures of cards and invented photos of them, on which recognition is measured and tested.

Every card is drawn from its number alone: a frame in one of a few layouts and colours, an artwork of gradients, soft
noise and shapes, and lines of text. Some cards are similar on purpose (`KINDS`): a reprint has the artwork of an
earlier card in another frame; others have it in other colours, or a slightly different part of it.
"""

import io
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
from PIL import Image, ImageDraw, ImageEnhance, ImageFilter

WIDTH, HEIGHT = 252, 352
KINDS = ("plain", "reprint", "recoloured", "reframed", "full art")
_SHARES = (0.70, 0.10, 0.07, 0.06, 0.07)
_FRAMES = (
    ((236, 206, 70), (120, 190, 90), (225, 95, 70), (90, 150, 220), (150, 110, 180), (190, 150, 110)),
    ((35, 35, 38), (225, 222, 205), (60, 90, 160), (160, 60, 50), (70, 110, 70), (120, 120, 125)),
)
_WINDOWS = ((0.085, 0.115, 0.915, 0.485), (0.078, 0.113, 0.922, 0.555))  # left, top, right, bottom of the artwork
Random = np.random.Generator


def kind_of(number: int) -> str:
    """Return which of `KINDS` a card is; the first card is plain."""
    return "plain" if number == 0 else KINDS[_random("kind", number).choice(len(KINDS), p=_SHARES)]


def draw_card(number: int) -> Image.Image:
    """Draw the reference image of a card."""
    kind = kind_of(number)
    rng = _random("card", number)
    art = _artwork(number, kind)
    if kind == "full art":
        card = art.resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC)
        _text(ImageDraw.Draw(card), rng, 0.72, (250, 250, 250))
        return card
    layout = int(rng.integers(2))
    frame = np.array(_FRAMES[layout][rng.integers(6)]) + rng.integers(-12, 13, 3)
    card = Image.new("RGB", (WIDTH, HEIGHT), tuple(int(v) for v in np.clip(frame, 0, 255)))
    left, top, right, bottom = _pixels(_WINDOWS[layout])
    card.paste(art.resize((right - left, bottom - top), Image.Resampling.BICUBIC), (left, top))
    pen = ImageDraw.Draw(card)
    pen.rectangle((0, 0, WIDTH - 1, HEIGHT - 1), outline=(20, 20, 20) if layout else (250, 220, 80), width=7)
    paper = tuple(int(v) for v in np.clip(frame * 0.4 + 150, 0, 255))
    pen.rectangle((left, bottom + 8, right, HEIGHT - 18), fill=paper)
    _text(pen, rng, bottom / HEIGHT + 0.06, (25, 25, 25))
    return card


def _artwork(number: int, kind: str) -> Image.Image:
    """Return the artwork; kinds that reuse an artwork take it from the last plain card before."""
    if kind in ("plain", "full art"):
        return _painting(number)
    owner = number - 1
    while kind_of(owner) != "plain":
        owner -= 1
    painting, rng = _painting(owner), _random("variant", number)
    if kind == "recoloured":
        return Image.merge("RGB", [painting.split()[i] for i in rng.permutation([[1, 2, 0], [2, 0, 1]])[0]])
    if kind == "reframed":
        width, height = painting.size
        cut = rng.uniform(0.04, 0.12, 4) * (width, height, width, height)
        return painting.crop((int(cut[0]), int(cut[1]), width - int(cut[2]), height - int(cut[3])))
    return painting


def _painting(number: int) -> Image.Image:
    """Return 240 × 150 pixels of gradient, soft noise and shapes."""
    rng = _random("painting", number)
    width, height = 240, 150
    corners = rng.integers(20, 236, (2, 2, 3)).astype(np.uint8)
    sky = np.asarray(Image.fromarray(corners).resize((width, height), Image.Resampling.BILINEAR)).astype(float)
    coarse = rng.normal(0, rng.uniform(8, 40), (rng.integers(3, 7), rng.integers(4, 9), 1))
    noise = np.clip(coarse + 128, 0, 255).astype(np.uint8).repeat(3, 2)
    cloud = np.asarray(Image.fromarray(noise).resize((width, height), Image.Resampling.BICUBIC)).astype(float) - 128
    picture = Image.fromarray(np.clip(sky + cloud, 0, 255).astype(np.uint8))
    pen = ImageDraw.Draw(picture)
    for _ in range(rng.integers(3, 9)):
        _shape(pen, rng, width, height)
    return picture.filter(ImageFilter.GaussianBlur(0.6))


def _shape(pen: ImageDraw.ImageDraw, rng: Random, width: int, height: int) -> None:
    colour = tuple(int(v) for v in rng.integers(0, 256, 3))
    x, y = rng.uniform(0.1, 0.9, 2) * (width, height)
    size = rng.uniform(10, 55)
    if rng.random() < 0.5:
        tall = rng.uniform(0.4, 1.6)
        pen.ellipse((x - size, y - size * tall, x + size, y + size * tall), fill=colour)
        return
    angles = np.sort(rng.uniform(0, 2 * np.pi, rng.integers(3, 8)))
    reach = size * rng.uniform(0.5, 1.4, len(angles))
    pen.polygon(list(zip(x + reach * np.cos(angles), y + reach * np.sin(angles), strict=True)), fill=colour)


def _text(pen: ImageDraw.ImageDraw, rng: Random, top: float, ink: tuple[int, int, int]) -> None:
    """Draw a title above the artwork and some lines below, as dashes as long as words."""
    lines = [(0.055, 1)] + [(top + 0.05 * i, rng.integers(2, 7)) for i in range(int((0.92 - top) / 0.05))]
    for place, words in lines:
        x = WIDTH * 0.11
        for length in rng.uniform(10, 46, words):
            if x + length < WIDTH * 0.88:
                pen.rectangle((x, HEIGHT * place, x + length, HEIGHT * place + 5), fill=ink)
            x += length + 6


def _pixels(window: tuple[float, float, float, float]) -> tuple[int, int, int, int]:
    left, top, right, bottom = window
    return round(left * WIDTH), round(top * HEIGHT), round(right * WIDTH), round(bottom * HEIGHT)


@cache
def stream_of(name: str) -> int:
    return int.from_bytes(name.encode())


def _random(name: str, number: int) -> Random:
    return np.random.default_rng((stream_of(name), number))


def turned(card: Image.Image, rng: Random) -> Image.Image:
    """Turn a card by up to 3 degrees either way, on a table."""
    big, angle = _on_table(card, rng, 0.0), rng.uniform(-3, 3)
    return big.rotate(angle, Image.Resampling.BICUBIC, fillcolor=big.getpixel((0, 0)))


def rescaled(card: Image.Image, rng: Random) -> Image.Image:
    """Scale a card to 30 to 300 percent."""
    scale = float(np.exp(rng.uniform(np.log(0.3), np.log(3))))
    return card.resize((round(WIDTH * scale), round(HEIGHT * scale)), Image.Resampling.BILINEAR)


def blurred(card: Image.Image, rng: Random) -> Image.Image:
    """Blur a card with a radius of up to 1.2 percent of the width."""
    return card.filter(ImageFilter.GaussianBlur(rng.uniform(0.003, 0.012) * WIDTH))


def compressed(card: Image.Image, rng: Random) -> Image.Image:
    """Compress a card as JPEG of quality 10 to 50."""
    file = io.BytesIO()
    card.save(file, "JPEG", quality=int(rng.integers(10, 51)))
    return Image.open(file).convert("RGB")


def lit(card: Image.Image, rng: Random) -> Image.Image:
    """Change brightness by up to 40 percent, the contrast, the tint, and add light from one side."""
    card = ImageEnhance.Contrast(card).enhance(rng.uniform(0.7, 1.2))
    gain = rng.uniform(0.6, 1.4) * rng.uniform(0.92, 1.08, 3)
    slope = 1 + rng.uniform(-0.15, 0.15) * np.linspace(-1, 1, card.width)[None, :, None]
    return Image.fromarray(np.clip(np.asarray(card) * gain * slope, 0, 255).astype(np.uint8))


def cut(card: Image.Image, rng: Random) -> Image.Image:
    """Cut a card badly: up to 4 percent too much or too little on each side."""
    return _framed(card, rng, rng.uniform(-0.04, 0.04, 4))


def photographed(card: Image.Image, rng: Random) -> Image.Image:
    """Apply all changes at about half the strength."""
    card = _framed(card, rng, rng.uniform(-0.02, 0.02, 4))
    card = card.rotate(rng.uniform(-1.5, 1.5), Image.Resampling.BICUBIC, fillcolor=card.getpixel((0, 0)))
    card = card.filter(ImageFilter.GaussianBlur(rng.uniform(0.001, 0.006) * WIDTH))
    gain = rng.uniform(0.75, 1.25) * rng.uniform(0.95, 1.05, 3)
    slope = 1 + rng.uniform(-0.1, 0.1) * np.linspace(-1, 1, card.width)[None, :, None]
    noisy = np.asarray(card) * gain * slope + rng.normal(0, 6, (card.height, card.width, 1))
    card = Image.fromarray(np.clip(noisy, 0, 255).astype(np.uint8))
    return compressed(card.resize((500, 700), Image.Resampling.BILINEAR), rng)


PHOTOS: dict[str, Callable[[Image.Image, Random], Image.Image]] = {
    "as it is": lambda card, rng: card,
    "turned up to 3°": turned,
    "rescaled 30–300 %": rescaled,
    "blurred": blurred,
    "JPEG quality 10–50": compressed,
    "other light": lit,
    "cut up to ±4 % a side": cut,
    "all, at half strength": photographed,
}


def photos(number: int, card: Image.Image) -> Iterator[tuple[str, Image.Image]]:
    """Yield a photo of a card in each way, with the name of the way."""
    for name, take in PHOTOS.items():
        yield name, take(card, _random(name, number))


def _framed(card: Image.Image, rng: Random, sides: np.ndarray) -> Image.Image:
    """Cut a card by shares of its sides (left, top, right, bottom); a negative share shows the table."""
    big = _on_table(card, rng, 0.05)
    left, top, right, bottom = (sides * (WIDTH, HEIGHT, WIDTH, HEIGHT)).round().astype(int)
    x, y = (big.width - WIDTH) // 2, (big.height - HEIGHT) // 2
    return big.crop((x + left, y + top, x + WIDTH - right, y + HEIGHT - bottom))


def _on_table(card: Image.Image, rng: Random, margin: float) -> Image.Image:
    x, y = round(WIDTH * margin), round(HEIGHT * margin)
    table = tuple(int(v) for v in rng.integers(30, 226, 3))
    big = Image.new("RGB", (WIDTH + 2 * x, HEIGHT + 2 * y), table)
    big.paste(card, (x, y))
    return big
