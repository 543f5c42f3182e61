"""Documents of a store that are too large, or nested too deep: one line, in little memory, and the shim goes on."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from generator.storage import layout
from generator.storage.errors import StoreError
from generator.storage.keys import SCOPES, issue, open_key_file
from generator.storage.stores.interface import MAX_DOCUMENT_BYTES
from generator.storage.stores.open import open_store
from tests.support import nights
from tests.support.s3_servers import S3Server
from tests.support.service import until
from tests.support.shim_clients import WsgiClient

LIMIT = 30.0
DEEP = b"[" * 5_000_000
MEMORY = 800 << 20


def spoil(path: Path, how: str) -> None:
    """Replace a file, as a rename does: a reader has the old one or the new one."""
    other = path.with_name("other")
    other.write_bytes(DEEP if how == "deep" else b"")
    if how == "large":
        os.truncate(other, 1 << 30)
    other.replace(path)


COMMANDS = {
    "pointer": ("current.json", ("show",)),
    "record": ("builds/*.json", ("show",)),
    "key": ("private/keys/*/*.json", ("keys", "list")),
    "changes of keys": ("private/keys.json", ("keys", "issue", "--name", "n")),
}


@pytest.mark.parametrize("how", ["large", "deep"])
@pytest.mark.parametrize("case", COMMANDS)
def test_a_command_says_it_in_one_line(tmp_path: Path, case: str, how: str) -> None:
    pattern, words = COMMANDS[case]
    nights.published(tmp_path, 7)
    open_key_file(str(tmp_path / "store")).add(issue("n", SCOPES, 1, None, 0)[1])
    for path in (tmp_path / "store").glob(pattern):
        spoil(path, how)
    program = Path(sys.executable).with_name("cardpress")
    result = subprocess.run(
        [program, *words, "--store", tmp_path / "store"],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY)),
    )
    assert result.returncode == 1 and result.stderr.count("\n") == 1, result.stderr
    assert ("at most 16 MiB" if how == "large" else "nested too deep") in result.stderr


@pytest.mark.shim_only("spoils files under a shim of its own")
@pytest.mark.parametrize("how", ["large", "deep"])
def test_a_shim_goes_on_with_the_last_good_state(tmp_path: Path, how: str) -> None:
    nights.published(tmp_path, 7)
    store = tmp_path / "store"
    client = WsgiClient(str(store), str(tmp_path / "state"), 1_000_000)
    live = client.get("/api/v1/status").headers["X-Build"]
    for name in (layout.POINTER, layout.KEYS):
        spoil(store / name, how)
    until(lambda: client.get("/healthz").json["store"] == "failing", LIMIT, "it notices")
    answer = client.get("/api/v1/cards")
    assert (answer.status, answer.headers["X-Build"]) == (200, live)


def test_a_large_document_in_a_bucket_is_not_read(server: S3Server) -> None:
    store = open_store(f"s3://{server.bucket()}/store")
    store.put("current.json", bytes(MAX_DOCUMENT_BYTES))
    assert store.get_versioned("current.json") is not None
    store.put("current.json", bytes(MAX_DOCUMENT_BYTES + 1))
    with pytest.raises(StoreError, match="at most 16 MiB"):
        store.get_versioned("current.json")
