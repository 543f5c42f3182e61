"""Prints what a lock file pins as a bill of materials: CycloneDX 1.6, as JSON. `make sbom` calls it.

The same lock gives the same bytes: the document has no time and no serial number.
"""

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
PINNED = re.compile(r"^(?P<name>[a-z0-9-]+)(?:\[[^]]*\])?==(?P<version>[^ ;]+)(?: ; (?P<marker>[^\\]+?))? \\$")
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
NEEDED_BY = re.compile(r"^    #(?: via)? +([a-z0-9-]+)", re.MULTILINE)


class Package(NamedTuple):
    """A pinned package. `hashes`: of its files in the index; `needed_by`: names of packages; `marker`: where only."""

    name: str
    version: str
    marker: str | None
    hashes: list[str]
    needed_by: list[str]

    @property
    def purl(self) -> str:
        return f"pkg:pypi/{self.name}@{self.version}"


def pinned(lock: str) -> list[Package]:
    """Return the packages of a lock file.

    Raises:
        ValueError: A line of the file pins no package in the form that `make lock` writes.
    """
    packages = []
    for block in re.split(r"^(?=\S)", lock, flags=re.MULTILINE)[1:]:
        found = PINNED.match(block.partition("\n")[0])
        if found is None:
            raise ValueError(f"not a pinned package with hashes: {block[:80]!r}")
        packages.append(Package(**found.groupdict(), hashes=HASH.findall(block), needed_by=NEEDED_BY.findall(block)))
    return packages


def component(package: Package) -> dict[str, Any]:
    """Return a package as CycloneDX. The hashes are those of its files, of which a machine installs one."""
    hashes = [{"alg": "SHA-256", "content": content} for content in package.hashes]
    files = {"type": "distribution", "url": f"https://pypi.org/simple/{package.name}/", "hashes": hashes}
    marker = [{"name": "cdx:python:package:environment-marker", "value": package.marker}] if package.marker else []
    return {
        "type": "library",
        "bom-ref": package.purl,
        "name": package.name,
        "version": package.version,
        "purl": package.purl,
        "externalReferences": [files],
    } | ({"properties": marker} if marker else {})


def bill(lock: str) -> dict[str, Any]:
    """Return the bill of materials of a lock file."""
    project = tomllib.loads(PROJECT.read_text("utf-8"))["project"]
    product = Package(project["name"], project["version"], None, [], [])
    packages = pinned(lock)
    needs = {one.purl: [p.purl for p in packages if one.name in p.needed_by] for one in (product, *packages)}
    described = {"type": "application", "bom-ref": product.purl, "name": product.name, "version": product.version}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": described | {"description": project["description"], "purl": product.purl}},
        "components": [component(package) for package in packages],
        "dependencies": [{"ref": ref, "dependsOn": others} for ref, others in needs.items()],
    }


if __name__ == "__main__":
    print(json.dumps(bill(Path(sys.argv[1]).read_text("utf-8")), indent=2))
