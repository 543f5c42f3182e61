"""S3 servers for tests, on free ports of this machine: moto, and Ceph's RADOS Gateway if it is installed."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import urlsplit

import boto3
import botocore.exceptions
import pytest
from botocore.config import Config

from tests.support.ports import free_port
from tests.support.programs import PROGRAMS
from tests.support.service import running, until

SECRET = "testsecret"
OWNER, READER = "owner", "reader"
_SECONDS = 120
_WEBSITES = "pages.localhost"  # of buckets as websites: browsers know that it is this machine; `localhost` is the API


@dataclass
class S3Server:
    """A running server. `environment` returns the variables that point boto3 to it."""

    name: str
    endpoint: str

    def environment(self, user: str = OWNER, endpoint: str | None = None) -> dict[str, str]:
        """Return the variables that make boto3 use this server, as one of its users, or another endpoint of it."""
        return {
            "AWS_ENDPOINT_URL": endpoint or self.endpoint,
            "AWS_ACCESS_KEY_ID": user,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        }

    def enter(self, patch: pytest.MonkeyPatch, user: str = OWNER, endpoint: str | None = None) -> None:
        """Set these variables."""
        for name, value in self.environment(user, endpoint).items():
            patch.setenv(name, value)

    @cached_property
    def _client(self):
        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            aws_access_key_id=OWNER,
            aws_secret_access_key=SECRET,
            region_name="us-east-1",
            config=Config(s3={"addressing_style": "path"}, request_checksum_calculation="when_required"),
        )

    def client(self):
        """Return a client with which tests read the server without the product."""
        return self._client

    def is_up(self) -> bool:
        try:
            self.client().list_buckets()
        except (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError):
            return False
        return True

    def bucket(self) -> str:
        name = f"cardpress-{uuid.uuid4().hex[:12]}"
        self.client().create_bucket(Bucket=name)
        return name

    def publish(self, bucket: str) -> str:
        """Make a bucket a public website, which Ceph knows. Return its address."""
        everyone = {"Effect": "Allow", "Principal": "*", "Action": ["s3:GetObject"]}
        statement = {**everyone, "Resource": [f"arn:aws:s3:::{bucket}/*"]}
        policy = {"Version": "2012-10-17", "Statement": [statement]}
        self.client().put_bucket_policy(Bucket=bucket, Policy=json.dumps(policy))
        website = {"IndexDocument": {"Suffix": "index.html"}}
        self.client().put_bucket_website(Bucket=bucket, WebsiteConfiguration=website)
        return f"http://{bucket}.{_WEBSITES}:{urlsplit(self.endpoint).port}"


@contextmanager
def moto() -> Iterator[S3Server]:
    port = free_port()
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", port]
    server = S3Server("moto", f"http://127.0.0.1:{port}")
    with (
        tempfile.TemporaryDirectory(prefix="cardpress-moto-") as folder,
        running(command, Path(folder, "log"), server.is_up),
    ):
        yield server


@contextmanager
def ceph() -> Iterator[S3Server]:
    """Start Ceph's RADOS Gateway with one monitor and one store in memory, without systemd, in one folder."""
    base = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="rgw-", dir=base)))
        port, log = free_port(), folder / "log"
        conf, monitors = _configure(folder, port)
        fsid = conf.read_text().split()[3]
        _run("monmaptool", "--create", "--fsid", fsid, "--addv", "a", monitors, str(folder / "monmap"))
        _run("ceph-mon", "--mkfs", "-i", "a", "--monmap", str(folder / "monmap"), "--conf", str(conf))
        _start(stack, ["ceph-mon", "-i", "a", "--conf", conf, "-f"], log)
        osd = str(uuid.uuid4())
        _run("ceph", "--conf", str(conf), "osd", "new", osd)
        _run("ceph-osd", "--mkfs", "-i", "0", "--osd-uuid", osd, "--conf", str(conf))
        _start(stack, ["ceph-osd", "-i", "0", "--conf", conf, "-f"], log)
        gateway = _start(stack, ["radosgw", "-n", "client.rgw", "--conf", conf, "-f"], log)
        for user in (OWNER, READER):
            admin = ("radosgw-admin", "-n", "client.rgw", "--conf", str(conf))
            named = ("--uid", user, "--display-name", user, "--access-key", user, "--secret-key", SECRET)
            _run(*admin, "user", "create", *named)
        server = S3Server("ceph", f"http://127.0.0.1:{port}")
        until(lambda: server.is_up() or gateway.poll() is not None, _SECONDS, "Ceph answers")
        yield server


SERVERS: dict[str, Callable] = {"moto": moto, "ceph": ceph}


def best() -> str:
    """Return the name of the server to test on: Ceph if it is installed, else moto."""
    return "ceph" if PROGRAMS["Ceph"].installed else "moto"


def _configure(folder: Path, port: int) -> tuple[Path, str]:
    for name in ("mon", "osd", "rgw"):
        (folder / name).mkdir()
    monitors = f"[v2:127.0.0.1:{free_port()},v1:127.0.0.1:{free_port()}]"
    conf = folder / "ceph.conf"
    conf.write_text(
        f"""[global]
fsid = {uuid.uuid4()}
mon initial members = a
mon host = {monitors}
public addr = 127.0.0.1
ms bind ipv6 = false
auth cluster required = none
auth service required = none
auth client required = none
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd crush chooseleaf type = 0
mon allow pool size one = true
mon data = {folder}/mon
osd data = {folder}/osd
osd objectstore = memstore
memstore device bytes = 1073741824
admin socket =
log file = {folder}/$name.log
paxos propose interval = 0.05
paxos min wait = 0.01
objecter tick interval = 0.2
objecter timeout = 1
ms max backoff = 0.2
debug ms = 0/0
debug mon = 0/0
debug osd = 0/0
debug paxos = 0/0
debug rgw = 0/0
[client.rgw]
# without this line a gateway without authentication never connects to the monitor
ms mon client mode = crc
rgw data = {folder}/rgw
rgw enable static website = true
# without a name of its own the API would take the host of a request for a bucket
rgw dns name = localhost
rgw dns s3website name = {_WEBSITES}
# without tcp_nodelay each request after the first takes 40 ms more
rgw frontends = beast endpoint=127.0.0.1:{port} tcp_nodelay=1
"""
    )
    return conf, monitors


def _run(*command: str) -> None:
    result = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS)
    assert result.returncode == 0, f"{' '.join(command)}: {result.stderr[-2000:]}"


def _start(stack: ExitStack, command: list[object], log: Path) -> subprocess.Popen:
    """Start a part of Ceph. It is killed at the end: no server may outlive the tests."""
    return stack.enter_context(running(command, log, lambda: True, signal.SIGKILL))
