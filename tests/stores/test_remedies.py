"""Each message says what its code asks for, and `doctor` says the same."""

import errno
import os
from pathlib import Path

import pytest

from generator.storage.errors import StoreError
from generator.storage.stores.folder import FolderStore
from generator.storage.stores.remedies import REMEDIES
from tests.support.commands import run
from tests.support.s3_fixtures import on_s3
from tests.support.s3_gate import HabitGate
from tests.support.s3_servers import S3Server

pytestmark = on_s3


@pytest.mark.parametrize("code", ["EROFS", "ENOSPC", "EDQUOT", "EIO", "EMFILE", "ESTALE"])
def test_of_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    number = getattr(errno, code)

    def fails(*_: object, **__: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "open", fails)
    with pytest.raises(StoreError) as caught:
        FolderStore(str(tmp_path)).put("one", b"1")
    assert str(caught.value).endswith(f"one in {tmp_path}: {os.strerror(number)}: {REMEDIES[code]}")


@pytest.mark.parametrize("server", ["moto"], indirect=True)
@pytest.mark.parametrize(
    ("habit", "said"),
    [
        ("key=other", REMEDIES["InvalidAccessKeyId"]),
        ("skewed", REMEDIES["RequestTimeTooSkewed"]),
        ("expired", REMEDIES["ExpiredToken"]),
        ("odd", "said of OddWeather"),
        ("noputs", REMEDIES["SlowDown"]),
    ],
)
@pytest.mark.thorough
def test_of_a_bucket(server: S3Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, habit: str, said: str) -> None:
    store = f"s3://{server.bucket()}/store"
    with HabitGate(server.endpoint, habit) as gate:
        monkeypatch.setenv("AWS_ENDPOINT_URL", gate.endpoint)
        checked = run("doctor", "--store", store, "--state", tmp_path, status=1).stdout
        refused = run("keys", "issue", "--store", store, "--create", "--name", "n", status=1).stderr
    assert said in checked and said in refused and "\n" not in refused.strip()
    assert "permission" not in checked + refused and "grant" not in checked + refused


@pytest.mark.parametrize("endpoint", ["http://me:s3cret@127.0.0.1:9", "http://me:s3/cr@t:s3cret@127.0.0.1:9"])
def test_a_password_in_the_endpoint_is_not_said(monkeypatch: pytest.MonkeyPatch, endpoint: str) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    for command in (("builds",), ("keys", "list"), ("doctor",)):
        said = run(*command, "--store", "s3://cards/store", status=1)
        assert "s3cret" not in said.stdout + said.stderr and "127.0.0.1" in said.stdout + said.stderr
