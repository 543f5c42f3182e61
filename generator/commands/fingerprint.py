"""`cardpress fingerprint …`: reference images into the lake's fingerprint table, and photos looked up in it."""

import json
import os
from pathlib import Path

import click

from generator.commands.options import json_option
from generator.fingerprints.load import load
from generator.fingerprints.products import products_of
from generator.fingerprints.table import check_recipe, rows, update
from generator.fingerprints.verify import verify as verify_samples
from generator.ingest.tables import LakeWriter
from generator.progress import Progress
from recognition.collect import Collected, collect, find_images
from recognition.errors import RecognitionError
from recognition.match import Match
from recognition.match import match as nearest_to
from recognition.pictures import need_pillow, open_picture
from recognition.recipe import VERSION

_NAMED = 5  # broken images named one by one


def _template(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    if value is not None and "{key}" not in value:
        raise click.BadParameter("must hold {key}, such as https://images.example/{key}.webp")
    return value


@click.group()
def fingerprint() -> None:
    """Recognise cards on photos. Needs the extra cardpress[fingerprint].

    \b
    Example: cardpress fingerprint match photo.jpg --index https://cards.example/api/v1/fingerprints
    """


@fingerprint.command()
@click.argument("images", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--lake", required=True, help="Folder (made if absent) or s3:// prefix.")
@click.option(
    "--products", "--products-file", type=click.Path(path_type=Path), metavar="FILE", help="Products of each key."
)
@click.option("--image-url", callback=_template, metavar="TEMPLATE", help="URL of an image, with {key} in it.")
@click.option("--prune", is_flag=True, help="Drop the entries of other images.")
@click.option("--skip-broken", is_flag=True, help="Leave out images that cannot be read.")
@click.option("--verify", is_flag=True, help="Write nothing: work out samples again and compare.")
@click.option("--samples", type=click.IntRange(min=1), default=100, show_default=True, help="How many of them.")
@click.option("--workers", type=click.IntRange(min=1), help="Processes.  [default: one per core]")
@json_option
def index(
    images: tuple[Path, ...],
    lake: str,
    products: Path | None,
    image_url: str | None,
    prune: bool,
    skip_broken: bool,
    verify: bool,
    samples: int,
    workers: int | None,
    as_json: bool,
) -> None:
    """Make the lake's fingerprint table from reference images.

    IMAGES are files, or folders of them. An image's key is its file name without the suffix. Entries of the same keys
    are replaced, others stay unless --prune. Products come from --products, JSON like {"key": [1, 2]} or CSV with key
    and id_product, or else from the lake: the products whose image URL ends in the key, or whose id it is.

    \b
    Example: cardpress fingerprint index scans/ --lake lake --image-url 'https://images.example/{key}.webp'
    """
    need_pillow()
    found, workers, into = find_images(images), workers or os.cpu_count() or 1, LakeWriter(lake)
    if verify:
        _verify(into, found, samples, workers, as_json)
        return
    check_recipe(into, prune=prune)  # before the work; it is checked again under the lock
    owners = products_of(into, found, products)
    with Progress().bar("fingerprints", len(found)) as bar:
        collected = collect(found, workers, bar.update)
    _tell_broken(collected, skip_broken)
    change = update(into, rows(collected.fingerprints, owners), image_url, prune=prune)
    result = change._asdict() | {
        "broken": len(collected.broken),
        "without_products": len(found) - len(collected.broken),
    }
    result["without_products"] -= sum(map(bool, owners.values()))
    click.echo(json.dumps(result) if as_json else _line(result))


def _tell_broken(collected: Collected, skip: bool) -> None:
    """Name the images that could not be read; without `skip`, refuse."""
    reasons = list(collected.broken.values())
    if not reasons:
        return
    if not skip or not collected.fingerprints:
        more = f"; {len(reasons)} such images" if len(reasons) > 1 else ""
        way_out = ": repair them or leave them out with --skip-broken" if collected.fingerprints else ""
        raise RecognitionError(f"{reasons[0]}{more}{way_out}. Nothing was written")
    for reason in reasons[:_NAMED]:
        click.echo(f"left out: {reason}", err=True)
    if len(reasons) > _NAMED:
        click.echo(f"left out: {len(reasons) - _NAMED} more", err=True)


def _line(result: dict[str, int]) -> str:
    parts = [f"{result[name]:,} {name}" for name in ("new", "changed", "unchanged", "kept", "pruned", "broken")]
    entries, without = result["entries"], result["without_products"]
    return f"fingerprints: {entries:,} entries, {', '.join(parts)}; {without:,} without products"


def _verify(lake: LakeWriter, images: dict[str, Path], samples: int, workers: int, as_json: bool) -> None:
    with Progress().bar("verify", min(samples, len(images))) as bar:
        verified = verify_samples(lake, images, samples, workers, bar.update)
    if as_json:
        click.echo(json.dumps(verified._asdict()))
    else:
        right = verified.checked - len(verified.wrong)
        click.echo(f"{right:,} of {verified.checked:,} entries are right; {verified.unknown:,} images have none")
    if verified.wrong:
        more = f", and {len(verified.wrong) - 1} more" if len(verified.wrong) > 1 else ""
        raise RecognitionError(f"{next(iter(verified.wrong.values()))}{more}")


@fingerprint.command()
@click.argument("photo", type=click.Path(path_type=Path))
@click.option("--index", required=True, metavar="URL-or-FILE", help="…/api/v1/fingerprints, fingerprints.json, a lake.")
@click.option("--key", metavar="KEY", help="API key, for a URL.")
@click.option("--top", type=click.IntRange(min=1), default=5, show_default=True, help="How many entries.")
@json_option
def match(photo: Path, index: str, key: str | None, top: int, as_json: bool) -> None:
    """Find the entries nearest to a photo of a card.

    PHOTO is upright and cut roughly to the card.

    Prints distance, key, products and image; the less the distance, the more alike. Better set CARDPRESS_KEY than
    give --key, which other users of the machine can see.

    \b
    Example: cardpress fingerprint match photo.jpg --index https://cards.example/api/v1/fingerprints
    """
    pixels = open_picture(photo)
    references = load(index, key)
    matches = nearest_to(pixels, references, top)
    if as_json:
        click.echo(
            json.dumps(
                {"version": VERSION, "entries": len(references), "matches": [found._asdict() for found in matches]}
            )
        )
    else:
        click.echo("\n".join(map(_match_line, matches)))


def _match_line(found: Match) -> str:
    products = " ".join(map(str, found.products)) or "no products"
    return f"{found.distance:7.2f}  {found.key}  {products}  {found.image}"
