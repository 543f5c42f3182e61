"""The recipes that need programs of others: tools for a language model, typed clients. They run as on the page."""

import html
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.support.ducklake_reader import CLIENTS
from tests.support.programs import needs
from tests.support.service import Service
from tests.support.site_lake import EMBERFOX
from tests.support.workerd import NODE_MODULES

pytestmark = pytest.mark.thorough
TOOLS = {
    "listCards": {"q": "ember", "limit": 2},
    "getCard": {"idProduct": EMBERFOX},
    "findNamedCards": {"names": "Box 1"},
    "listSeries": {"ids": str(EMBERFOX)},
    "listSets": {},
    "listGames": {"limit": 1},
    "listMovers": {"window": "30d"},
}
ASK = """
import asyncio, json, os, sys
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

async def ask(requests):
    async with Client(StdioTransport(sys.executable, ["tools.py"], env=dict(os.environ))) as client:
        print(json.dumps([tool.name for tool in await client.list_tools()]))
        for name, given in requests.items():
            print(json.dumps((await client.call_tool(name, given)).structured_content))

asyncio.run(ask(json.loads(sys.argv[1])))
"""


@pytest.fixture
def environment(site_service: Service, site_key: str) -> dict[str, str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return os.environ | {"CARDS": f"http://127.0.0.1:{site_service.port}", "KEY": site_key, "PATH": path}


def recipe(site_service: Service, title: str) -> str:
    page = site_service.client().get("/docs").text
    [text] = re.findall(rf'aria-label="{title}[^>]*><code[^>]*>(.*?)</code>', page, re.DOTALL)
    return html.unescape(text)


def prepare(text: str, folder: Path, environment: dict[str, str]) -> None:
    """Run what a recipe says in its first lines."""
    for line in re.findall(r"^(?:#|//) (.*)$", text, re.MULTILINE):
        subprocess.run(line, shell=True, cwd=folder, env=environment, check=True, capture_output=True, timeout=120)


def says(folder: Path, environment: dict[str, str], *command: object, status: int = 0) -> str:
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(not (CLIENTS / "fastmcp").is_dir(), reason=f"no fastmcp in {CLIENTS} (make bulk-clients)")
def test_a_language_model_has_seven_tools(
    site_service: Service, site_key: str, tmp_path: Path, environment: dict[str, str]
) -> None:
    (tmp_path / "tools.py").write_text(recipe(site_service, "Tools for a language model"))
    environment["PYTHONPATH"] = str(CLIENTS)
    said = says(tmp_path, environment, sys.executable, "-c", ASK, json.dumps(TOOLS))
    names, *answers = map(json.loads, said.splitlines())
    assert sorted(names) == sorted(TOOLS)
    client = site_service.client(site_key)
    described = client.get("/api/v1/openapi.json").json["paths"]
    paths = {item["get"]["operationId"]: path for path, item in described.items()}
    targets = [f"{paths[name].format(**given)}?{urlencode(given)}" for name, given in TOOLS.items()]
    targets[1] = targets[1].partition("?")[0]
    assert answers == [client.get(target).json for target in targets]


def test_a_typed_client_in_python(site_service: Service, tmp_path: Path, environment: dict[str, str]) -> None:
    text = recipe(site_service, "A typed client in Python")
    prepare(text, tmp_path, environment)
    (tmp_path / "typed.py").write_text(text)
    said = says(tmp_path, environment, sys.executable, "typed.py", "emberfox")
    assert "Emberfox ex [Blazing Tail] Ashen Peaks 22.1\n" in said
    (tmp_path / "wrong.py").write_text(text.replace("limit=3", 'limit="3"'))
    checked = says(tmp_path, environment, "mypy", "--strict", "--follow-imports", "silent", "wrong.py", status=1)
    assert checked.count("error:") == 1 and 'Argument "limit"' in checked


@needs("npm")
@pytest.mark.skipif(
    not (NODE_MODULES / "openapi-fetch").is_dir(), reason=f"none in {NODE_MODULES} (make node-programs)"
)
def test_a_typed_client_in_typescript(site_service: Service, tmp_path: Path, environment: dict[str, str]) -> None:
    text = recipe(site_service, "A typed client in TypeScript")
    (tmp_path / "node_modules").symlink_to(NODE_MODULES)
    file = tmp_path / "typescript.mts"
    file.write_text(text)
    prepare(text, tmp_path, environment)
    said = says(tmp_path, environment, "node", "typescript.mjs", "emberfox")
    assert "Emberfox ex [Blazing Tail] Ashen Peaks 22.1\n" in said
    file.write_text(text.replace("limit: 3", 'limit: "3"'))
    checked = says(tmp_path, environment, *text.splitlines()[1].removeprefix("// ").split(), status=2)
    assert checked.count("error TS") == 1 and "'string' is not assignable to type 'number'" in checked
