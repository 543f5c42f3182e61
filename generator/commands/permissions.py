"""What to do about a file that this user may not read or write: its owner, and the remedy."""

import errno
import os
import re
import shlex
from pathlib import Path

from generator.storage.stores.remedies import sudo_line, user_name

_QUOTED_PATH = re.compile("'(/[^']+)'")  # Arrow names the file only in the text of its error


def permission_advice(error: BaseException) -> str:
    """Return the end of an error message: the owner of the file and what to do. '' for other errors."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, PermissionError):
        cause = cause.__cause__
    path = _nearest(cause) if cause else None
    if path is None:
        return ""
    me, owner, quoted = os.geteuid(), path.stat().st_uid, shlex.quote(str(path))
    if owner == me and cause and cause.errno == errno.EPERM:
        return f"; {path} has a group that you are not in: `sudo chgrp -R {os.getegid()} {quoted}` gives it yours"
    if owner == me:
        return f"; {path} is yours, with mode {path.stat().st_mode & 0o777:04o}: `chmod u+rwX {quoted}` allows it"
    return (
        f"; {path} belongs to {user_name(owner)}, and you are {user_name(me)}: run the command as {user_name(owner)} "
        f"(`{sudo_line(owner)}`), or give it to you with `sudo chown -R {me} {quoted}`"
    )


def _nearest(error: OSError) -> Path | None:
    """Return the path itself or the nearest folder above it that can be looked at: that one refuses."""
    found = _QUOTED_PATH.search(str(error))
    path = error.filename or (found[1] if found else None)
    if not isinstance(path, str):
        return None
    absolute = Path(path).absolute()
    return next((place for place in (absolute, *absolute.parents) if os.access(place, os.F_OK)), None)
