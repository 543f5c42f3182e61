"""Downloads the marketplace's files of a game into a folder that keeps them by day.

One request at a time, with the validators of the last download, so that an unchanged file is not sent again. The files
of a call appear one after the other, after all of them were read and found whole. The record of them comes last.
"""

import gzip
import json
import time
import urllib.error
import urllib.request
from contextlib import suppress
from http import HTTPStatus
from http.client import HTTPException
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from generator.clock import Clock
from generator.errors import IngestError
from generator.ingest.marketplace_files import read_document
from generator.ingest.streams import FileLimits
from generator.storage.stores.disk import make_folder, move_file

BASE_URL = "https://downloads.s3.cardmarket.com/productCatalog"
# The files of a game by their path below the base, without `_G.json`, and the list that each one has. Prices come last:
# they were made first, so that the lists have their products.
PATHS = {
    "productList/products_singles": "products",
    "productList/products_nonsingles": "products",
    "priceGuide/price_guide": "priceGuides",
}
_RECORD = ".cardpress-fetch.json"
_WAITS_SECONDS = (1, 4)  # before the second and the third try
_GZIP = b"\x1f\x8b"


class KeptFile(NamedTuple):
    """The name of a file in the folder, and the validators of the answer that it came from."""

    file: str
    etag: str | None
    last_modified: str | None


def fetch_files(
    game: int, folder: Path, base: str, limits: FileLimits, seconds: float, clock: Clock
) -> dict[Path, bool]:
    """Download the files of a game that changed into a folder. Return the newest of each kind, and which are new."""
    make_folder(folder)
    known, day, fetched = _read_record(folder), clock().date(), dict[Path, bool]()
    with TemporaryDirectory(prefix=".fetch-", dir=folder) as unfinished:
        new: dict[str, Path] = {}
        for path, rows_key in PATHS.items():
            url = f"{base}/{path}_{game}.json"
            answer = _get(url, known.get(url), limits, seconds)
            if answer is not None:
                body, headers = answer
                name = f"{path.rpartition('/')[2]}_{game}_{day}.json.gz"
                new[name] = _checked(Path(unfinished, f".{name}"), body, rows_key, limits, url)
                known[url] = KeptFile(name, headers.get("ETag"), headers.get("Last-Modified"))
            fetched[folder / known[url].file] = answer is not None
        record = {url: download._asdict() for url, download in known.items()}
        new[_RECORD] = Path(unfinished, _RECORD)
        new[_RECORD].write_text(json.dumps(record, indent=1), "utf-8")
        for name, file in new.items():
            move_file(file, folder / name)
    return fetched


def _read_record(folder: Path) -> dict[str, KeptFile]:
    """Return the downloads by address whose files are still there. A damaged record only costs a download."""
    with suppress(OSError, ValueError, TypeError, AttributeError):
        record = {url: KeptFile(**fields) for url, fields in json.loads((folder / _RECORD).read_text("utf-8")).items()}
        return {url: download for url, download in record.items() if (folder / download.file).is_file()}
    return {}


def _checked(path: Path, body: bytes, rows_key: str, limits: FileLimits, url: str) -> Path:
    """Write a body as gzip, and check that it is a whole file with the list `rows_key`."""
    path.write_bytes(body if body.startswith(_GZIP) else gzip.compress(body, mtime=0))
    try:
        if rows_key not in read_document(path, limits).lists:
            raise IngestError(f'no list "{rows_key}" in it')
    except IngestError as error:
        raise IngestError(f"{url} sent no file of the marketplace: {error}") from error
    return path


def _get(url: str, known: KeptFile | None, limits: FileLimits, seconds: float) -> tuple[bytes, Any] | None:
    """Return the body and the headers of an address, or None if the known download is still the newest."""
    headers = {"User-Agent": f"cardpress/{version('cardpress')}"}
    if known:
        validators = {"If-None-Match": known.etag, "If-Modified-Since": known.last_modified}
        headers |= {name: value for name, value in validators.items() if value}
    for wait in (*_WAITS_SECONDS, None):
        try:
            return _read_answer(urllib.request.Request(url, headers=headers), limits, seconds)
        except urllib.error.HTTPError as error:
            if known and error.code == HTTPStatus.NOT_MODIFIED:
                return None
            if wait is None or error.code < HTTPStatus.INTERNAL_SERVER_ERROR:
                missing = error.code in (HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND)
                advice = ": is this the marketplace's number of the game?" if missing else ""
                raise IngestError(f"{url}: {error.code} {error.reason}{advice}") from error
        except (OSError, HTTPException) as error:
            reason = getattr(error, "reason", None) or error
            if wait is None:
                raise IngestError(f"{url}: {getattr(reason, 'strerror', None) or reason}; try again later") from error
        time.sleep(wait)
    raise AssertionError("the last try returns or raises")


def _read_answer(request: urllib.request.Request, limits: FileLimits, seconds: float) -> tuple[bytes, Any]:
    with urllib.request.urlopen(request, timeout=seconds) as response:
        body: bytes = response.read(limits.file_bytes + 1)
        if len(body) > limits.file_bytes:
            raise IngestError(f"{request.full_url}: larger than {limits.file_bytes >> 20} MB: raise --max-file-mb")
        expected = response.headers.get("Content-Length")
        if expected is not None and len(body) != int(expected):
            raise HTTPException(f"the answer ended after {len(body):,} of {int(expected):,} bytes")
        return body, response.headers
