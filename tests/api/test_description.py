"""The served description against the running API: requests made from it by schemathesis, answers checked against it."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support.service import API, Service, environment

# A made-up build is refused by rule, so requests that name one name the live build.
CONFIG = """
hooks = "hooks.py"

[parameters]
"header.X-Build" = "{build}"
"query.since" = "{build}"
"""

# OpenAPI has no words for "beside ids, only defaults", "min_price is not above max_price" and "match needs words and no
# order". Two decimals would be a multiple of 0.01, which few validators compute without a rounding error.
HOOKS = """
import schemathesis

@schemathesis.hook
def before_call(context, case, kwargs):
    case.headers.pop("If-Match", None)  # a tag of another file is 412, which counts as a refusal
    if "ids" in (case.query or {}):
        case.query = {"ids": case.query["ids"]}
    if {"min_price", "max_price"} <= set(case.query or {}):
        del case.query["max_price"]
    query = case.query or {}
    if query.get("sort") == "match" and ("order" in query or not str(query.get("q", "")).split()):
        del query["sort"]
    if case.path.endswith("/market/history"):
        if {"set", "game"} <= set(query):
            del case.query["game"]
        elif not {"set", "game"} & set(query):
            case.query = {**query, "set": 1}
    for name in {"min_price", "max_price"} & set(case.query or {}):
        price = case.query[name]
        if isinstance(price, float) and 0 <= price < 1e18:
            case.query[name] = f"{abs(price):.2f}" if price < 1e15 else int(price)
"""


@pytest.mark.hypothesis  # which draws the requests
@pytest.mark.thorough
def test_the_api_is_as_described(fixed_service: Service, fixed_key: str, live_build: str, tmp_path: Path) -> None:
    (tmp_path / "schemathesis.toml").write_text(CONFIG.format(build=live_build))
    (tmp_path / "hooks.py").write_text(HOOKS)
    examples = settings.default.max_examples
    phases = "examples,fuzzing" if examples < 10 else "examples,coverage,fuzzing"
    command = [
        *(str(Path(sys.executable).with_name("schemathesis")), "--config-file", str(tmp_path / "schemathesis.toml")),
        *("run", f"http://127.0.0.1:{fixed_service.port}{API}/openapi.json"),
        *("--header", f"Authorization: Bearer {fixed_key}"),
        *("--max-examples", str(examples), "--seed", "1", "--phases", phases, "--no-color"),
    ]
    result = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stdout[-6000:] + result.stderr[-2000:]
