"""The layers of a store, as the tasks of a build read them."""

from pathlib import Path

from edge_auth.builds.layers import Layer
from edge_auth.store.interface import Store
from generator.pack.output import Inputs
from generator.pack.verify import checked_file


class StoredLayers:
    """Layers of one store. Each index is read once, and each file is compared with its hash once."""

    def __init__(self, store: Store):
        self._store = store
        self._opened: dict[str, Layer] = {}  # by digest
        self._checked: set[tuple[str, str]] = set()  # files, by the digest of their layer and stem

    def open(self, name: str, digest: str) -> Layer:
        """Return a layer."""
        return self._opened.setdefault(digest, Layer(self._store, name, digest))

    def forget(self, digest: str) -> None:
        """Read a layer again when it is next needed: it was made anew."""
        self._opened.pop(digest, None)
        self._checked = {file for file in self._checked if file[0] != digest}

    def file(self, inputs: Inputs, name: str, digest: str, stem: str) -> Path:
        """Return a local copy of a file of a layer, which one of a task's inputs has just written or the store has.

        Raises:
            BuildError: The file in the store is damaged.
            StoreError: It cannot be read.
        """
        layer = self.open(name, digest)
        for output in inputs.values():
            for file in output.files if output.layer == name else ():
                if file.name.startswith(f"{stem}-"):
                    return layer.local(file.name, file.sha256)
        if (digest, stem) in self._checked:
            return layer.file(stem)
        path = checked_file(layer, stem)
        self._checked.add((digest, stem))
        return path
