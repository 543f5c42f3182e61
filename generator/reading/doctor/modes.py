"""Checks that other users of the machine cannot read the private files of a folder store: key records, pages, locks."""

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

from edge_auth.builds import layout
from edge_auth.live.key_file import KeyFile
from edge_auth.store.interface import Store
from generator.reading.doctor.findings import Finding, problem

_OTHERS_MODE_BITS = 0o077  # permissions of the group and of all others


def check_modes(store: Store, keys: KeyFile) -> Iterator[Finding]:
    """Report a private folder, and key records elsewhere, that the group or others may use."""
    folder, key_file = store.local_path(layout.PRIVATE), keys.store.local_path(keys.name)
    if folder is not None:
        yield from _check(folder, [folder, *folder.glob("*")])
    if key_file is not None and (folder is None or not key_file.is_relative_to(folder)):
        yield from _check(key_file, [key_file])
        yield from _check(key_file.with_suffix(""), [key_file.with_suffix("")])


def _check(top: Path, paths: list[Path]) -> Iterator[Finding]:
    readable = [path for path in paths if path.exists() and path.stat().st_mode & _OTHERS_MODE_BITS]
    if readable:
        more = f" and {len(readable) - 1} more" if len(readable) > 1 else ""
        message = f"other users of this machine may use {os.fspath(readable[0])}{more}"
        yield problem("modes", message, f"chmod -R go= {shlex.quote(str(top))}, as the user that runs the shim")
