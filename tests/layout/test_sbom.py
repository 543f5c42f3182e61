"""The bill of materials of `make sbom` names everything that the lock file pins."""

import json
import subprocess
import sys

import pytest
from packaging.requirements import Requirement

from tests.support.service import ROOT

PROGRAM = ROOT / ".ci" / "sbom.py"


def bill(lock: object) -> dict:
    return json.loads(subprocess.run([sys.executable, PROGRAM, lock], check=True, capture_output=True).stdout)


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_every_pinned_package_is_there_with_version_address_and_hashes(lock: str) -> None:
    found = {}
    for part in bill(ROOT / lock)["components"]:
        [files] = part["externalReferences"]
        assert part["purl"] == part["bom-ref"] == f"pkg:pypi/{part['name']}@{part['version']}"
        found[part["name"], part["version"]] = {one["content"] for one in files["hashes"] if one["alg"] == "SHA-256"}
    expected, pin = {}, ("", "")
    for line in (ROOT / lock).read_text().splitlines():
        if not line.startswith((" ", "#")):
            requirement = Requirement(line.rstrip("\\"))
            pin = requirement.name, str(requirement.specifier).removeprefix("==")
            expected[pin] = set()
        elif "--hash=sha256:" in line:
            expected[pin].add(line.partition("sha256:")[2].rstrip(" \\"))
    assert found == expected and all(expected.values())


def test_what_needs_what_is_named_and_reaches_every_package() -> None:
    document = bill(ROOT / "requirements.lock")
    needs = {entry["ref"]: entry["dependsOn"] for entry in document["dependencies"]}
    reached, new = set(), {document["metadata"]["component"]["bom-ref"]}
    while new:
        reached |= new
        new = {other for ref in new for other in needs[ref]} - reached
    assert reached == needs.keys() and len(needs) == len(document["components"]) + 1


def test_a_line_of_another_form_is_refused() -> None:
    result = subprocess.run([sys.executable, PROGRAM, "/dev/stdin"], input="flask>=3\n", capture_output=True, text=True)
    assert result.returncode != 0 and "not a pinned package" in result.stderr and not result.stdout
