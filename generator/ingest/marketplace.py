"""Imports the marketplace's own files: lists of products, names of expansions, price guides.

An option that an import is given once holds for the next imports of the same game: those of `fetch`, of timers and of
other people. The lake remembers it in `imports.json`, by the number in the names of files. `cardpress lake show` prints
it, `cardpress lake remember` and the options of an import change it.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from generator import settings
from generator.errors import IngestError
from generator.ingest import pipeline, table_files
from generator.ingest.marketplace_files import ImportedFile, NotTheMarketplaces, read_marketplace_file
from generator.ingest.products import GAMES, CatalogueUpdate, GameOfFile, usual_name
from generator.ingest.streams import FileLimits
from generator.lake.files import GUIDE_PRICES, PRICE_FIGURES
from generator.lake.lake import IMPORTS_NAME
from generator.lake.table_writer import LakeWriter
from generator.storage.text import fold

DEFAULT_PATTERN = r"\(([A-Z]{1,4}[0-9]{0,2}-T?[0-9]{2,3}[a-z]?)\)"
# A guide that lacks at most this many of the six columns lacks them by mistake. One that lacks more never had them.
_MAX_MISSING_COLUMNS = 2


class GameImport(NamedTuple):
    """How the files of a game are imported."""

    game: str | None = None  # where the marketplace's number does not say it
    number_pattern: str | None = None  # None: numbers are not taken from names
    accepted: frozenset[str] = frozenset()  # the cases of `findings` that do not stop an import

    def __str__(self) -> str:
        said = [f"game {self.game}"] if self.game else []
        if self.number_pattern:
            other = "" if self.number_pattern == DEFAULT_PATTERN else f" by {self.number_pattern}"
            said.append(f"numbers from names{other}")
        return ", ".join([*said, *(f"accepts {case}" for case in sorted(self.accepted))]) or "nothing"

    def as_json(self) -> dict[str, object]:
        return self._asdict() | {"accepted": sorted(self.accepted)}


@dataclass
class MarketplaceFiles(pipeline.ImportFiles):
    """Files of the marketplace."""

    named: tuple[tuple[str, Path], ...]  # those that options name, by what they are said to be
    places: tuple[Path, ...]  # folders to search, and single files
    limits: FileLimits
    on_left: Callable[[str], None]  # called with a line about each of a folder's other files
    game: str | None = None  # of the expansions; None: by the number in the file's name
    number_pattern: str | None = None  # takes numbers from names, '' takes none; None: as the lake remembers
    files: list[ImportedFile] = field(default_factory=list, init=False)  # products first, for builds in between
    left: list[dict[str, str]] = field(default_factory=list, init=False)  # other files of folders, and why
    memory: dict[int, GameImport] = field(default_factory=dict, init=False)  # by the number of the game

    @property
    def counts(self) -> dict[str, object]:
        return {"files": [{"path": str(file.path), "what": file.what} for file in self.files], "left": self.left}

    def as_json(self, tables: Iterable[pipeline.FileChange]) -> Mapping[str, object]:
        """Return the counts of each file of the lake, with those of the findings that are about it."""
        found = {change.path: dict(change.counts or {}) for change in tables}
        for finding in self.findings:
            counts = found.setdefault(finding.target, {})
            counts[finding.case] = counts.get(finding.case, 0) + finding.occurrences
        return {**self.counts, "tables": found} if self.places else found

    def paths(self) -> list[tuple[Path, str | None]]:
        """Return each file once, and what an option says of it."""
        found = dict.fromkeys(path for place in self.places for path in _files(place))
        return [*((path, kind) for kind, path in self.named), *((path, None) for path in found)]

    def read(self, on_read: pipeline.OnRead) -> None:
        """Read the files by what they hold, oldest first; leave the others."""
        for path, kind in self.paths():
            try:
                read = read_marketplace_file(path, self.limits, kind)
            except NotTheMarketplaces as reason:
                self.left.append({"path": str(path), "reason": str(reason)})
                self.on_left(f"left {path}: {reason}")
                continue
            for file in read:
                on_read(f"{path}: {file.what}")
                self.files.append(file)
        self.files.sort(key=lambda file: file.order)

    def judge(self, lake: LakeWriter) -> None:
        """Find what is doubtful in the files by themselves, in both lists, and beside the guides of the lake."""
        self.memory = remembered(lake)
        self.findings += [found for file in self.files for found in file.findings]
        self._judge_lists()
        if guides := [file for file in self.files if file.is_guide]:
            stored = lake.list_days("price_guide")
            self._judge_prices(lake, guides, stored)
            self._judge_days(guides, stored)
            self._judge_replaced(lake, guides)
            self._judge_products(lake, guides)

    def _judge_lists(self) -> None:
        """Find the products that stand in both lists of one time."""
        target = table_files.PRODUCTS_FILE
        incoming = pa.concat_tables([target.imported_schema.empty_table(), *(file.rows for file in self._of(target))])
        both = table_files.select("in_both_lists", incoming=incoming)["id_product"]
        if len(both):
            message = f"{len(both):,} products stand in both lists, such as {both[0].as_py()}: taken as sealed"
            self.find("in-both-lists", "lists", len(both), message, target=target.path)

    def _judge_prices(self, lake: LakeWriter, guides: list[ImportedFile], stored: list[date]) -> None:
        """Find the price columns that guides lack, compared with the newest guide of an earlier day.

        They are refused if they had prices, if the guide has most others, or has a similar key.
        """
        for guide in guides:
            source, target = guide.path, guide.target.path
            if not (guide.absent or guide.unknown) or not len(rows := guide.rows):
                continue
            previous = rows.schema.empty_table()
            if days := [day for day in (*stored, *(one.day for one in guides)) if day < guide.day]:
                stored_rows = table_files.price_guide_file(max(days)).read(lake).select(rows.schema.names)
                previous = pa.concat_tables([stored_rows, *(one.rows for one in guides if one.day == max(days))])
            same = previous.filter(pc.is_in(previous["id_product"], rows["id_product"]))
            prices = {name: len(same) - same[name].null_count for name in guide.absent}
            lost = {name: count for name, count in prices.items() if count}
            missing = [name for name in guide.absent if name in PRICE_FIGURES]
            if lost:
                had = f"where the guide before it has {max(lost.values()):,} prices"
                message = f"no row has {_listed(list(lost))}, {had}"
                self.find(pipeline.MISSING_PRICES, source, len(lost), message, is_refused=True, target=target)
            elif missing:
                renamed = f"; perhaps renamed: {', '.join(guide.unknown)}" if guide.unknown else ""
                message = f"no row has {_listed(missing)}{renamed}"
                keys = [key.casefold() for key in guide.unknown]
                is_like = (any(name in key for key in keys) or get_close_matches(name, keys) for name in missing)
                is_refused = len(missing) <= _MAX_MISSING_COLUMNS or any(is_like)
                self.find(pipeline.MISSING_PRICES, source, len(missing), message, is_refused, target)

    def _judge_days(self, guides: list[ImportedFile], stored: list[date]) -> None:
        """Find the guides that a long gap separates from the newest one, such as of 1970: a wrong clock made them."""
        days = {*stored, *(guide.day for guide in guides)}
        first = newest = max(stored or days)
        for day in sorted((day for day in days if day < newest), reverse=True):
            if (first - day).days > settings.MAX_DAYS_WITHOUT_GUIDE:
                break
            first = day
        for guide in guides:
            if guide.day < first or guide.day.year < settings.FIRST_GUIDE_YEAR:
                newest_day = f"the newest guide of the lake is of {max(stored)}" if stored else "no guide is that old"
                message = f"createdAt is {guide.created_at.isoformat()}, but {newest_day}"
                self.find(pipeline.FAR_DAY, guide.path, 1, message, is_refused=True, target=guide.target.path)

    def _judge_replaced(self, lake: LakeWriter, guides: list[ImportedFile]) -> None:
        """Find the guides that replace another one of their day, in the lake or in this import."""
        for target, of_day in _by_target(guides).items():
            update = table_files.TableUpdate(lake, target)
            for guide in sorted(of_day, key=lambda one: one.created_at):
                rows, prices = guide.rows, {"prices": tuple(GUIDE_PRICES)}
                found = table_files.select("replaced_guide", prices, previous=update.after, incoming=rows)
                for one in found.to_pylist():
                    middle = "; in the middle their trend is {ratio:.3g} times what it was" if one["ratio"] else ""
                    said = (
                        "replaces the guide of {created_at:%Y-%m-%dT%H:%M:%SZ}: "
                        "{changed:,} of {products:,} products have other prices" + middle
                    )
                    self.find("replaced", guide.path, one["changed"], said.format(**one), target=target.path)
                if len(of_day) > 1:
                    update.merge(rows)

    def _judge_products(self, lake: LakeWriter, guides: list[ImportedFile]) -> None:
        """Find the guides most of whose products neither the lake nor a list of this import has."""
        key = pa.schema([("id_product", pa.int64())])
        lists = (file.rows.select(key.names) for file in self._of(table_files.PRODUCTS_FILE))
        ids = pa.concat_tables([lake.read_all("products", key), *lists])["id_product"]
        for guide in guides:
            rows = guide.rows["id_product"]
            unknown = rows.filter(pc.invert(pc.is_in(rows, ids)))
            if 2 * len(unknown) > len(rows):
                message = (
                    f"{len(unknown):,} of its {len(rows):,} products are in no list of the lake, such as {unknown[0]}: "
                    "builds leave their prices out until `--singles` and `--nonsingles` bring the lists"
                )
                self.find("unknown-products", guide.path, len(unknown), message, target=guide.target.path)

    def accepts(self, finding: pipeline.ImportFinding) -> bool:
        numbers = {file.number for file in self.files if str(file.path) == finding.source and file.number is not None}
        known = (self.memory[number].accepted for number in numbers if number in self.memory)
        return super().accepts(finding) or any(finding.case in accepted for accepted in known)

    def merge(self, lake: LakeWriter) -> Iterator[pipeline.FileChange]:
        """Yield the catalogue, the guides by day, and what is remembered of the games."""
        changes, games = self._update_catalogue(lake)
        yield from changes
        for target, guides in _by_target(self.files).items():
            yield table_files.TableUpdate(lake, target, (guide.rows for guide in guides)).change()
        self._learn(games)
        yield from memory_file(lake, self.memory)

    def kept(self) -> dict[int, GameImport]:
        """Return what the lake remembers of the games of these files, by number."""
        numbers = {file.number for file in self.files}
        return {number: self.memory[number] for number in sorted(self.memory) if number in numbers}

    def _of(self, target: table_files.TableFile) -> list[ImportedFile]:
        return [file for file in self.files if file.target == target]

    def _update_catalogue(self, lake: LakeWriter) -> tuple[list[pipeline.FileChange], dict[int, str]]:
        """Update products and expansions, with the values of list pages. Return also the games of unknown numbers."""
        lists, names = self._of(table_files.PRODUCTS_FILE), self._of(table_files.EXPANSIONS_FILE)
        if not lists and not names and not self.number_pattern:
            return [], {}
        catalogue = CatalogueUpdate(lake, (file.rows for file in lists), (file.rows for file in names))
        products, expansions = catalogue.products, catalogue.expansions
        for file in names:
            if game := usual_name(self.game) if self.game else self._remembered(file).game or file.game:
                expansions.after = _with_game(expansions.after, file.rows["id"], game)
        told = [(file, self._remembered(file).game or file.game) for file in lists]
        catalogue.complete(
            GameOfFile(file.rows["id_expansion"], game, is_firm=game != file.game) for file, game in told if game
        )
        games = _games_of_unknown_numbers(lists, expansions.after)
        for file in names:
            if game := games.get(file.number or -1):
                expansions.after = _with_game(expansions.after, file.rows["id"], game, is_firm=False)
        # Collector numbers from names: of all products if an option says so, else of remembered games.
        if self.number_pattern:
            _fill_numbers(products, self.number_pattern, products.after["id_product"])
        for file in lists if self.number_pattern is None else ():
            if pattern := self._remembered(file).number_pattern:
                _fill_numbers(products, pattern, file.rows["id_product"])
        changes = []
        if lists or products.is_changed:
            changes.append(_with_two_games(products, expansions))
        if names or expansions.is_changed:
            changes.append(expansions.change())
        return changes, games

    def _remembered(self, file: ImportedFile) -> GameImport:
        return self.memory.get(file.number or -1, GameImport())

    def _learn(self, games: dict[int, str]) -> None:
        """Remember the options of this import. `games` are those of unknown numbers."""
        for file in self.files:
            number = file.number
            if number is None:
                continue
            known = self.memory.get(number, GameImport(games.get(number)))
            stopped = {found.case for found in self.findings if found.source == str(file.path) and found.is_refused}
            known = known._replace(accepted=known.accepted | (stopped & {*self.accepted} & pipeline.OF_GAMES.keys()))
            if file.target == table_files.PRODUCTS_FILE and self.number_pattern is not None:
                known = known._replace(number_pattern=self.number_pattern or None)
            if file.target == table_files.EXPANSIONS_FILE and self.game:
                known = known._replace(game=usual_name(self.game))
            self.memory[number] = known._replace(game=None if known.game == file.game else known.game)


def _files(place: Path) -> Iterator[Path]:
    if place.is_dir():
        yield from sorted(path for path in place.rglob("*") if path.is_file() and not path.name.startswith("."))
    elif place.exists():
        yield place
    else:
        raise IngestError(f"{place}: no such file or folder")


def _games_of_unknown_numbers(lists: list[ImportedFile], expansions: pa.Table) -> dict[int, str]:
    """Return the games of numbers that are not in our list: those of most expansions in their lists of products."""
    games: dict[int, Counter[str]] = {}
    by_id = dict(zip(expansions["id"].to_pylist(), expansions["game"].to_pylist(), strict=True))
    for file in lists:
        if file.number is not None and file.number not in GAMES:
            ids = pc.unique(file.rows["id_expansion"]).to_pylist()
            games.setdefault(file.number, Counter()).update(game for id_ in ids if (game := by_id.get(id_)))
    return {number: min(found, key=lambda game: (-found[game], game)) for number, found in games.items() if found}


def _with_game(expansions: pa.Table, ids: pa.ChunkedArray, game: str, *, is_firm: bool = True) -> pa.Table:
    """Set the game of these expansions; unless it is firm, of those that have none."""
    place = expansions.schema.get_field_index("game")
    chosen = pc.is_in(expansions["id"], ids)
    if not is_firm:
        chosen = pc.and_(chosen, pc.is_null(expansions["game"]))
    return expansions.set_column(place, "game", pc.if_else(chosen, game, expansions["game"]))


def _fill_numbers(update: table_files.TableUpdate, pattern: str, ids: pa.ChunkedArray) -> None:
    """Give these singles, where they have none, the numbers of their names."""
    chosen, values = pa.table({"id_product": ids}), {"params": {"pattern": pattern}}
    update.replace_by("numbers_from_names", values, products=update.after, chosen=chosen)


def _with_two_games(products: table_files.TableUpdate, expansions: table_files.TableUpdate) -> pipeline.FileChange:
    """Return the change of products. It counts those whose rows, before and in the import, are of different games."""
    games = [fold(game or "") or None for game in expansions.after["game"].to_pylist()]
    by_id = pa.table({"id": expansions.after["id"], "game": pa.array(games, pa.string())})
    tables = {"existing": products.before, "incoming": products.incoming}
    [found] = table_files.select("in_two_games", **tables, games=by_id).to_pylist()
    change = products.change()
    if not found["products"]:
        return change
    named = f"{found['products']} products are in the files of two games, such as id_product {found['example']}"
    counts = (change.counts or {}) | {"in_two_games": found["products"]}
    return change._replace(counts=counts, remark=f"; {named}: the newest file wins")


def _by_target(files: list[ImportedFile]) -> dict[table_files.TableFile, list[ImportedFile]]:
    """Return the guides by the file of the lake that takes their rows."""
    targets = dict.fromkeys(file.target for file in files if file.is_guide)
    return {target: [file for file in files if file.target == target] for target in targets}


def _listed(names: list[str]) -> str:
    return f"the price{'s' * (len(names) > 1)} {', '.join(names)}"


def remembered(lake: LakeWriter) -> dict[int, GameImport]:
    data = lake.read_bytes(IMPORTS_NAME)
    if data is None:
        return {}
    try:
        return {int(number): _parse(fields) for number, fields in json.loads(data)["games"].items()}
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise IngestError(f"{IMPORTS_NAME} in lake {lake.location}: {error}: repair or delete it") from error


def checked_pattern(text: str) -> str:
    """Return a pattern of numbers in names. Raise ValueError if it is no regular expression with a group."""
    try:
        with duckdb.connect() as db:
            db.execute("select regexp_extract('', $1, ['number'])", [text])
    except duckdb.Error as error:
        raise ValueError(f'"{text}" must be a pattern with one group: {str(error).splitlines()[0]}') from error
    return text


def _parse(fields: dict[str, object]) -> GameImport:
    game, pattern, accepted = (fields.get(name) for name in GameImport._fields)
    if not isinstance(accepted, list) or not set(accepted) <= pipeline.MEANINGS.keys():
        raise ValueError("accepted must be a list of cases")
    remembered = frozenset(accepted) & pipeline.OF_GAMES.keys()
    return GameImport(str(game) if game else None, checked_pattern(str(pattern)) if pattern else None, remembered)


def memory_file(lake: LakeWriter, memory: Mapping[int, GameImport]) -> Iterator[pipeline.FileChange]:
    """Yield the file of what is remembered, if it changes."""
    kept = {str(number): one.as_json() for number, one in sorted(memory.items()) if one != GameImport()}
    data = (json.dumps({"games": kept}, ensure_ascii=False, indent=1) + "\n").encode()
    before = lake.read_bytes(IMPORTS_NAME)
    if data != before and (kept or before is not None):
        yield pipeline.FileChange(IMPORTS_NAME, None, pa.py_buffer(data))
