"""What to do about a file that this user may not read or write: its owner, and the remedy."""

import os
import pwd
import re
from pathlib import Path

_QUOTED_PATH = re.compile("'(/[^']+)'")  # Arrow names the file only in the text of its error


def permission_advice(error: BaseException) -> str:
    """Return the end of an error message: the owner of the file and what to do. '' for other errors."""
    refused = _permission_error(error)
    path = _nearest(_path_of(refused)) if refused else None
    if path is None:
        return ""
    me, owner, mode = os.geteuid(), path.stat().st_uid, path.stat().st_mode & 0o777
    if owner == me:
        return f"; {path} is yours, with mode {mode:04o}: `chmod u+rwX {path}` allows it"
    return (
        f"; {path} belongs to {_name(owner)}, and you are {_name(me)}: run the command as {_name(owner)} "
        f"(`sudo -u {_name(owner)} …`), or give it to you with `sudo chown -R {_name(me)} {path}`"
    )


def _permission_error(error: BaseException | None) -> OSError | None:
    """Return the error of the operating system among the causes, if it is about permissions."""
    while error is not None:
        if isinstance(error, PermissionError):
            return error
        error = error.__cause__
    return None


def _path_of(error: OSError) -> str | None:
    found = _QUOTED_PATH.search(str(error))
    return error.filename or (found[1] if found else None)


def _nearest(path: str | None) -> Path | None:
    """Return the path itself or the nearest folder above it that can be looked at: that one refuses."""
    if not isinstance(path, str):
        return None
    absolute = Path(path).absolute()
    return next((place for place in (absolute, *absolute.parents) if os.access(place, os.F_OK)), None)


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"
