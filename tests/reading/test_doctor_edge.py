"""`cardpress doctor --edge FILE`: the nginx in front of a shim, from its configuration to the socket."""

import json
import os
import shlex
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from edge_auth.live.places import live_file, used_keys_folder
from generator.cli import cli
from generator.storage.keys import open_key_file
from generator.storage.layout import KEYS
from tests.support.programs import needs

pytestmark = needs("nginx with Lua")


class Edge:
    """A store with its configuration of nginx, the files of a shim, and a socket on which something listens."""

    def __init__(self, store: Path, place: Path, *more: object):
        self.place, self.file = place, place / "edge.conf"
        self.state, self.folder, self.socket = place / "state", place / "nginx", place / "shim"
        self.places = ["--store", str(store), "--state", str(self.state)]
        self.folder.mkdir()
        self.state.mkdir()
        live_file(str(self.state), str(store)).write_text("2026-08-22-0123456789ab")
        used_keys = used_keys_folder(str(self.state), open_key_file(str(store)), self.socket)
        (used_keys / KEYS).parent.mkdir(parents=True)
        (used_keys / KEYS).touch()
        self.file.write_text(self.cardpress("edge", "config", "--socket", self.socket, "--folder", self.folder, *more))

    def cardpress(self, *words: object) -> str:
        return CliRunner().invoke(cli, [*map(str, words), *self.places]).stdout

    def findings(self) -> list[str]:
        lines = self.cardpress("doctor", "--edge", self.file, "--read-only").splitlines()
        return [line.replace(" edge      ", "") for line in lines if line.split()[1] == "edge"]


@pytest.fixture
def edge(fixed_store: Path, fixed_key: str, tmp_path: Path) -> Iterator[Edge]:
    prepared = Edge(fixed_store, tmp_path)
    with socket.socket(socket.AF_UNIX) as shim:
        shim.bind(str(prepared.socket))
        shim.listen()
        yield prepared


def test_a_sound_edge(edge: Edge) -> None:
    before = sorted(edge.place.rglob("*"))
    assert edge.findings() == [
        f"ok       {edge.file} is current",
        "ok       nginx accepts it",
        "ok       nginx may use its folder, its log, the live build, the keys and the counter",
        f"ok       a shim listens on {edge.socket}",
    ]
    assert sorted(edge.place.rglob("*")) == before, "nothing was changed"


@pytest.mark.parametrize("name", ['a "quoted" name', "back\\slash", "semi; colon {", "line\nbreak", "dollar$pid '#'"])
@pytest.mark.thorough
def test_a_folder_of_any_name(fixed_store: Path, fixed_key: str, tmp_path: Path, name: str) -> None:
    """nginx accepts the configuration, and doctor reads the same places in it."""
    (tmp_path / name).mkdir()
    edge = Edge(fixed_store, tmp_path / name, *("--log", tmp_path / "log") * ("$" in name))
    findings = edge.findings()
    assert [line.split()[0] for line in findings[:3]] == ["ok"] * 3, findings
    assert "no shim listens" in findings[3]


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--listen", "8080; return 200 hacked", "is not"),
        ("--listen", "8080\n", "is not"),
        ("--listen", "127.0.0.1:8080 reuseport", "is not"),
        ("--workers", "2; daemon on", "is not"),
        ("--workers", "0", "is not"),
        ("--cache-size", "1m; lua_need_request_body on", "is not"),
        ("--cache-size", "-1", "is not"),
        ("--log", "/var/log/$host", "--log: nginx reads the $"),
    ],
)
def test_an_option_that_is_more_than_a_value(edge: Edge, option: str, value: str, said: str) -> None:
    words = ["edge", "config", "--socket", edge.socket, "--folder", edge.folder, option, value, *edge.places]
    result = CliRunner().invoke(cli, [str(word) for word in words])
    assert result.exit_code == 2 and option in result.stderr and said in result.stderr


@pytest.mark.parametrize(
    "listen", ["8080", "127.0.0.1:8080", "[::1]:8080", "*:80", "cards.example:80", "unix:/run/a.b"]
)
def test_places_to_listen_on(edge: Edge, listen: str) -> None:
    places = ("--socket", edge.socket, "--folder", edge.folder)
    assert f"listen {listen} backlog=" in edge.cardpress("edge", "config", *places, "--listen", listen)


@pytest.mark.parametrize("more", [("--log", "off"), ("--log", "{0}/a log"), ("--metrics-listen", "127.0.0.1:9101")])
@pytest.mark.thorough
def test_the_log_and_the_metrics(fixed_store: Path, fixed_key: str, tmp_path: Path, more: tuple[str, str]) -> None:
    """doctor reads them back, writes no log, and names them in the command that writes the file again."""
    option, value = more[0], more[1].format(tmp_path)
    edge = Edge(fixed_store, tmp_path, option, value)
    assert [line.split()[0] for line in edge.findings()[:3]] == ["ok"] * 3
    assert not (tmp_path / "a log").exists()
    edge.file.write_text(edge.file.read_text() + "#")
    assert f"{option} {shlex.quote(value)}" in edge.findings()[0]


def replace(old: str, new: str) -> Callable[[Edge], None]:
    def spoil(edge: Edge) -> None:
        text = edge.file.read_text()
        assert old in text
        edge.file.write_text(text.replace(old, new))

    return spoil


def another_shim(edge: Edge) -> None:
    edge.places[-1] = str(edge.place / "other")


def other_keys(edge: Edge) -> None:
    edge.places += ["--keys", str(edge.place / "keys.json")]


WRONG: dict[str, tuple[Callable[[Edge], object], str]] = {
    "no file": (lambda edge: edge.file.unlink(), "No such file or directory"),
    "another file": (lambda edge: edge.file.write_text("http {}"), "was not written by `cardpress edge config`"),
    "changed by hand": (replace("tcp_nopush off", "tcp_nopush on"), "is not what this version writes for this shim, f"),
    "of another shim": (another_shim, "> {0}/edge.conf`, then reload nginx"),
    "more than an option": (replace(" backlog=", "; return 200 x; #"), "is not what this version writes"),
    "broken": (replace("server_tokens off;", "sendfile maybe;"), 'nginx refuses it: invalid value "maybe"'),
    "no folder": (lambda edge: edge.folder.rmdir(), "{0}/nginx does not exist: create it"),
    "no folder of the log": (replace("/nginx/access.log", "/logs/access.log"), "{0}/logs does not exist: create it"),
    "no keys": (other_keys, "/keys.json does not exist: start the shim, which writes it"),
    "no socket": (lambda edge: edge.socket.unlink(), "no shim listens on {0}/shim (No such file or directory)"),
    "no shim": (lambda edge: dead_socket(edge.socket), "no shim listens on {0}/shim (Connection refused)"),
}


def dead_socket(path: Path) -> None:
    path.unlink()
    with socket.socket(socket.AF_UNIX) as ended:
        ended.bind(str(path))


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong(edge: Edge, case: str) -> None:
    spoil, text = WRONG[case]
    spoil(edge)
    problems = [line for line in edge.findings() if line.startswith("problem")]
    assert any(text.format(edge.place) in line for line in problems), problems
    assert all(": " in line for line in problems), "each problem has advice"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can ask for another user")
def test_a_user_without_permission(edge: Edge) -> None:
    options = json.loads(edge.file.read_text().partition("\n")[0].removeprefix("# options: "))
    replace(json.dumps(options), json.dumps(options | {"user": "daemon"}))(edge)
    replace("user root;", "user daemon;")(edge)
    [found] = [line for line in edge.findings() if line.startswith("problem")]
    assert f"the user of nginx may not use {edge.folder}: run nginx as the user of the shim" in found


def test_no_nginx(edge: Edge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("generator.reading.doctor._NGINX_PATHS", str(edge.place))
    assert edge.findings()[1].startswith("warning  nginx is not installed here: run this check on the machine")
