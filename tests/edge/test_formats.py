"""Stored bytes do not depend on memory, and a build of another format is refused with what to do."""

import json
import random

import pytest

from generator.storage.builds import FORMAT, open_build
from generator.storage.errors import OtherVersion
from generator.storage.stores import codec
from generator.storage.stores.folder import FolderStore
from tests.support import small_store


def texts_with_an_early_match(count: int) -> list[bytes]:
    """Texts whose second to fifth bytes come again later, so that the hash of position 2 decides about a match."""
    rng = random.Random(3)
    starts = [rng.randbytes(6).hex() for _ in range(count)]
    return [f"x{start}{rng.randbytes(8).hex()}{start}{'alpha beta 1.5,' * 40}".encode() for start in starts]


@pytest.mark.parametrize("encode", [codec.compress, codec.deflate])
def test_stored_bytes_do_not_depend_on_where_the_compressor_lies_in_memory(encode):
    texts, ballast = texts_with_an_early_match(300), []
    first = [encode(text) for text in texts]
    for _ in range(60):
        ballast += [bytearray(size) for size in range(40_000, 125_000, 5_000)]  # the next compressors lie elsewhere
        assert [encode(text) for text in texts] == first


@pytest.mark.parametrize("other", [FORMAT - 1, FORMAT + 1])
@pytest.mark.thorough
def test_a_build_of_another_format_is_refused_with_what_to_do(tmp_path, other):
    store = FolderStore(str(tmp_path))
    build = small_store.add_build(store, 20, live=False)
    name = f"builds/{build}.json"
    store.put(name, json.dumps(json.loads(store.get(name)) | {"format": other}).encode())
    with pytest.raises(
        OtherVersion,
        match=rf"format {other}, this one reads {FORMAT}\): `cardpress build --lake LAKE --store .* --publish`",
    ):
        open_build(store, build)
