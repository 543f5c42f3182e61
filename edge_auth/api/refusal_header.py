"""A 400 of the shim as a header, for a proxy that writes the bodies of all answers with this status.

The shim's server refuses some requests without a body. A proxy that sees only the status cannot tell them apart. So it
asks for this header, and writes its text as the body. The nginx.conf of `cardpress deploy nginx` does.
"""

import json
from typing import TYPE_CHECKING

from edge_auth.live.request import Answer

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

_NAME = "X-Refusal"


def repeat_body(answer: Answer, environ: "WSGIEnvironment") -> None:
    """Add the body of a 400 to its headers, in ASCII, if the request has the header too."""
    if answer.status == 400 and "HTTP_X_REFUSAL" in environ:
        answer.headers[_NAME] = json.dumps(json.loads(answer.body), separators=(",", ":"))
