"""Writes a release into a folder, and the same bytes each time. `make release` calls it.

cardpress-….whl, cardpress-….tar.gz    built twice and compared
install.lock       what `pip install --require-hashes -r install.lock` needs in this folder: the wheel and its packages
cardpress.cdx.json what the lock pins, as a bill of materials
NOTES.md           what is new, from the changelog
SHA256SUMS         the hash of each of these files
"""

import re
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements.lock"


def build(folder: Path) -> dict[str, bytes]:
    """Return the files of the wheel and of the source by name."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def notes(version: str) -> str:
    """Return the changelog's part about a version."""
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    found = re.search(rf"^## \[{re.escape(version)}\].*?(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    if found is None:
        raise SystemExit(f"CHANGELOG.md has no part about {version}: write what an operator or client has to know")
    return found[0].rstrip() + "\n"


def main(target: Path) -> None:
    """Write the release into a folder that is empty or not there."""
    with TemporaryDirectory() as first, TemporaryDirectory() as second:
        files = build(Path(first))
        if files != build(Path(second)):
            raise SystemExit("two builds of the same source differ")
    [wheel] = [name for name in files if name.endswith(".whl")]
    bill = [sys.executable, str(ROOT / ".ci" / "sbom.py"), str(LOCK)]
    files["cardpress.cdx.json"] = subprocess.run(bill, check=True, capture_output=True).stdout
    files["install.lock"] = LOCK.read_bytes() + f"./{wheel} --hash=sha256:{sha256(files[wheel]).hexdigest()}\n".encode()
    files["NOTES.md"] = notes(wheel.split("-")[1]).encode()
    sums = "".join(f"{sha256(data).hexdigest()}  {name}\n" for name, data in sorted(files.items()))
    target.mkdir(parents=True, exist_ok=True)
    for name, data in (files | {"SHA256SUMS": sums.encode()}).items():
        (target / name).write_bytes(data)
    print(sums, end="")


main(Path(sys.argv[1]))
