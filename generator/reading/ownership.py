"""The checks of `cardpress doctor` on the files of a store: to whom they belong, and who may read what is private."""

import os
import shlex
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from generator.reading.doctor import Finding, problem
from generator.storage import layout
from generator.storage.keys import KeyFile
from generator.storage.stores.disk import FOLDER_OF_THE_FILE_SYSTEM
from generator.storage.stores.interface import Store
from generator.storage.stores.remedies import sudo_line, user_name

_OTHERS_MODE_BITS = 0o077  # permissions of the group and of all others


def check_owners(store: Store, keys: KeyFile) -> Iterator[Finding]:
    """Report a folder store, with key records elsewhere, whose files belong to several users."""
    counts: Counter[int] = Counter()
    examples: dict[int, str] = {}
    places = [top for top, _ in _places(store, keys, "")]
    for path, owner in (found for place in places for found in _owned(place)):
        counts[owner] += 1
        examples.setdefault(owner, path)
    if len(counts) > 1:
        (most, _), *others = counts.most_common()
        said = ", ".join(f"{count:,} to {user_name(owner)} ({examples[owner]})" for owner, count in others)
        message = f"the files belong to several users: {counts[most]:,} to {user_name(most)}, {said}"
        chown = f"sudo chown -R {most} {shlex.join(map(str, places))}"  # a number, since not each user has a name
        yield problem("owners", message, f"`{chown}` if {user_name(most)} runs the shim, then `{sudo_line(most)}`")


def _owned(place: Path) -> Iterator[tuple[str, int]]:
    """Yield a file, or what lies in a folder, with its owner. The folder itself may be a volume of root's."""
    if place.is_file():
        yield str(place), place.stat().st_uid
    for folder, folders, files in os.walk(place):
        folders[:] = [name for name in folders if name != FOLDER_OF_THE_FILE_SYSTEM]
        for path in (f"{folder}/{name}" for name in (*folders, *files)):
            with suppress(OSError):  # it was deleted after it was listed
                yield path, os.lstat(path).st_uid


def check_modes(store: Store, keys: KeyFile) -> Iterator[Finding]:
    """Report a private folder of a folder store, and key records elsewhere, that the group or others may use."""
    for top, paths in _places(store, keys, layout.PRIVATE):
        readable = [path for path in paths if path.exists() and path.stat().st_mode & _OTHERS_MODE_BITS]
        if readable:
            more = f" and {len(readable) - 1} more" if len(readable) > 1 else ""
            message = f"other users of this machine may use {os.fspath(readable[0])}{more}"
            yield problem("modes", message, f"chmod -R go= {shlex.quote(str(top))}, as the user that runs the shim")


def _places(store: Store, keys: KeyFile, name: str) -> list[tuple[Path, list[Path]]]:
    """Return a folder of a folder store with what it holds, and key records that lie elsewhere on this machine."""
    folder, key_file = store.local_path(name), keys.store.local_path(keys.name)
    places = [(folder, [folder, *folder.glob("*")])] if folder is not None else []
    if key_file is not None and (folder is None or not key_file.is_relative_to(folder)):
        places += [(path, [path]) for path in (key_file, key_file.with_suffix("")) if path.exists()]
    return places
