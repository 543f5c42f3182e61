"""`cardpress fingerprint …`: writes the lake's fingerprint table from reference images, and matches photos with it."""

from pathlib import Path

import click

from generator.commands.options import gathered, json_option, lake_made_option, plain_text
from generator.errors import RecognitionError
from generator.fingerprints import pictures
from generator.fingerprints.match import Match, load_index, match_photo
from generator.fingerprints.recipe import VERSION
from generator.fingerprints.table import check_recipe, products_of_images, table_rows, update
from generator.lake.table_writer import LakeWriter
from generator.terminal import Progress, say, say_result
from generator.threads import usable_cores

_MAX_NAMED = 5  # broken images in the output; the rest is counted
_template = plain_text(r".*\{key\}.*", "an address with {key}, such as https://images.example/{key}.webp")


def _limits(max_megapixels: float, max_image_mb: int) -> pictures.ImageLimits:
    return pictures.ImageLimits(max_image_mb << 20, int(max_megapixels * 1e6))


_limit_options = gathered(
    "limits",
    _limits,
    click.option(
        "--max-megapixels", type=click.FloatRange(0, min_open=True), default=pictures.DEFAULT_LIMITS.pixels / 1e6,
        help="Refuse larger images; 25 take about 1 GB of memory.",
    ),
    click.option(
        "--max-image-mb", type=click.IntRange(1), default=pictures.DEFAULT_LIMITS.file_bytes >> 20,
        help="Refuse larger files.",
    ),
)  # fmt: skip


@click.group()
def fingerprint() -> None:
    """Recognise cards on photos. Needs Pillow: pip install 'pillow>=12.1'.

    \b
    Example: cardpress fingerprint match photo.jpg --index https://cards.example/api/v1/fingerprints
    """


@fingerprint.command()
@click.argument("images", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@lake_made_option
@click.option(
    *("--products", "--products-file"),  # CARDPRESS_PRODUCTS is that of `demo`
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File of the products of each key.",
)
@click.option("--image-url", type=_template, metavar="TEMPLATE", help="URL of an image, with {key} in it.")
@click.option("--prune", is_flag=True, help="Drop the entries of other images.")
@click.option("--skip-broken", is_flag=True, help="Leave out images that cannot be read.")
@click.option("--workers", type=click.IntRange(min=1), help="Processes.  [default: one per core]")
@_limit_options
@json_option
def index(
    images: tuple[Path, ...],
    lake: str,
    products: Path | None,
    image_url: str | None,
    prune: bool,
    skip_broken: bool,
    workers: int | None,
    limits: pictures.ImageLimits,
    as_json: bool,
) -> None:
    """Make the lake's fingerprint table from reference images.

    IMAGES are files, or folders of them. An image's key is its file name without the suffix. Entries of the same keys
    are replaced, others stay unless --prune. Products come from --products, JSON like {"key": [1, 2]} or CSV with key
    and id_product, or else from the lake: the products whose image URL ends in the key, or whose id it is.

    \b
    Example: cardpress fingerprint index scans/ --lake lake --image-url 'https://images.example/{key}.webp'
    """
    pictures.require_pillow()
    paths, workers, writer = pictures.find_images(images), workers or usable_cores(), LakeWriter(lake)
    check_recipe(writer, prune=prune)  # before the long work; `update` checks it again under the lock
    image_products = products_of_images(writer, paths, products)
    with Progress().bar("fingerprints", len(paths)) as bar:
        fingerprints, broken = pictures.collect(paths, workers, bar.update, limits)
    _report_broken(list(broken.values()), skip_broken, is_any_read=bool(fingerprints))
    counts = update(writer, table_rows(fingerprints, image_products), image_url, prune=prune)
    without_products = len(paths) - len(broken) - sum(map(bool, image_products.values()))
    result = counts | {"broken": len(broken), "without_products": without_products}
    parts = [f"{result[name]:,} {name}" for name in ("new", "changed", "unchanged", "kept", "pruned", "broken")]
    line = f"fingerprints: {result['entries']:,} entries, {', '.join(parts)}; {without_products:,} without products"
    say_result(as_json, result, [line])


def _report_broken(reasons: list[str], skip: bool, *, is_any_read: bool) -> None:
    if reasons and not (skip and is_any_read):
        more = f"; {len(reasons)} such images" if len(reasons) > 1 else ""
        advice = ": repair them or leave them out with --skip-broken" if is_any_read else ""
        raise RecognitionError(f"{reasons[0]}{more}{advice}. Nothing was written")
    for reason in reasons[:_MAX_NAMED]:
        say(f"left out: {reason}", err=True)
    if len(reasons) > _MAX_NAMED:
        say(f"left out: {len(reasons) - _MAX_NAMED} more", err=True)


@fingerprint.command()
@click.argument("photo", type=click.Path(path_type=Path))
@click.option("--index", required=True, metavar="URL-or-FILE", help="…/api/v1/fingerprints, fingerprints.json, a lake.")
@click.option("--key", metavar="KEY", help="API key, for a URL.")
@click.option("--top", type=click.IntRange(min=1), default=5, help="How many entries.")
@_limit_options
@json_option
def match(photo: Path, index: str, key: str | None, top: int, limits: pictures.ImageLimits, as_json: bool) -> None:
    """Find the entries nearest to a photo of a card.

    PHOTO is upright and cut roughly to the card.

    Prints distance, key, products and image URL, nearest first. Set CARDPRESS_KEY rather than --key: other users of
    the machine can see the options of a command.

    \b
    Example: cardpress fingerprint match photo.jpg --index https://cards.example/api/v1/fingerprints
    """
    pixels = pictures.open_picture(photo, limits)
    references = load_index(index, key)
    matches = match_photo(pixels, references, top)
    found = {"version": VERSION, "entries": len(references.keys), "matches": [entry._asdict() for entry in matches]}
    say_result(as_json, found, map(_line, matches))


def _line(entry: Match) -> str:
    products = " ".join(map(str, entry.products)) or "no products"
    return f"{entry.distance:7.2f}  {entry.key}  {products}  {entry.image}"
