"""`cardpress docs`: the documents, which travel with the wheel."""

import click

from generator.errors import GeneratorError
from generator.templates import packaged
from generator.terminal import say, say_lines


@click.command()
@click.argument("page", required=False)
def docs(page: str | None) -> None:
    """Print a document, or list them all.

    \b
    Example: cardpress docs your-first-real-game
    """
    folder = packaged("docs")
    pages = {path.relative_to(folder).with_suffix("").as_posix(): path for path in sorted(folder.rglob("*.md"))}
    if page is None:
        for name, path in pages.items():
            say(f"{name:32} {path.read_text('utf-8').partition(chr(10))[0].removeprefix('# ')}")
    elif found := pages.get(page.removeprefix("docs/").removesuffix(".md")):
        say_lines(found.read_text("utf-8").rstrip().splitlines())
    else:
        raise GeneratorError(f"there is no document {page!r}: `cardpress docs` lists them")
