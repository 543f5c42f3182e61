"""What to do about a file that this user may not read or write: its owner, and the remedy."""

import os
import pwd
import re
from pathlib import Path

_QUOTED_PATH = re.compile("'(/[^']+)'")  # Arrow names the file only in the text of its error


def permission_advice(error: BaseException) -> str:
    """Return the end of an error message: the owner of the file and what to do. '' for other errors."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, PermissionError):
        cause = cause.__cause__
    path = _nearest(cause) if cause else None
    if path is None:
        return ""
    me, owner, mode = os.geteuid(), path.stat().st_uid, path.stat().st_mode & 0o777
    if owner == me:
        return f"; {path} is yours, with mode {mode:04o}: `chmod u+rwX {path}` allows it"
    return (
        f"; {path} belongs to {_name(owner)}, and you are {_name(me)}: run the command as {_name(owner)} "
        f"(`sudo -u {_name(owner)} …`), or give it to you with `sudo chown -R {_name(me)} {path}`"
    )


def _nearest(error: OSError) -> Path | None:
    """Return the path itself or the nearest folder above it that can be looked at: that one refuses."""
    found = _QUOTED_PATH.search(str(error))
    path = error.filename or (found[1] if found else None)
    if not isinstance(path, str):
        return None
    absolute = Path(path).absolute()
    return next((place for place in (absolute, *absolute.parents) if os.access(place, os.F_OK)), None)


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"
