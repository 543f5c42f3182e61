"""What the shim puts together without parsing: spliced histories, and words found by their suffixes."""

import gzip
import itertools
import json
import random
import zlib

import numpy as np
import pyarrow as pa
import pytest

from edge_auth.builds import bodies
from edge_auth.builds.builds import FORMAT, open_build
from edge_auth.builds.splice import detail_since, encode_fragments, splice
from edge_auth.builds.vocabulary import Names, Vocabulary, name_table, substring_table, suffix_table
from edge_auth.errors import StoreError
from edge_auth.store import codec
from edge_auth.store.folder import FolderStore
from tests.support import small_store

LINE = '{"id_product":1,"name":"Flabébé"}'.encode()
HEAD = LINE[:-1] + b',"history":'


def cut(rng: random.Random, days: list[bytes], periods: int) -> list[list[bytes]]:
    """Rows of an array, cut into periods at random."""
    ends = [0, *sorted(rng.randint(0, len(days)) for _ in range(periods - 1)), len(days)]
    return [days[start:end] for start, end in itertools.pairwise(ends)]


def members(rng: random.Random, arrays: list[list[bytes]], periods: int) -> list[bytes]:
    """The arrays as some periods."""
    by_period = zip(*(cut(rng, days, periods) for days in arrays), strict=True)
    stored = []
    for period in by_period:
        text, member = encode_fragments([bodies.BETWEEN.join(days) for days in period])
        assert gzip.decompress(member) == text and json.loads(text).keys() == set(bodies.HISTORY_ARRAYS)
        stored.append(member)
    return stored


def detail(rng: random.Random, arrays: list[list[bytes]], periods: int):
    return splice(LINE, members(rng, arrays, periods))


def written(arrays: list[list[bytes]]) -> bytes:
    """The document, a row a line."""
    lines = [
        b"\n".join([b'"%b":[' % name.encode(), *filter(None, [b",\n".join(rows)]), b"]"])
        for name, rows in zip(("price_guide", "filtered", "listing"), arrays, strict=True)
    ]
    return HEAD + b"{" + b",".join(lines) + b"}}\n"


def random_arrays(rng: random.Random) -> list[list[bytes]]:
    """Three arrays of rows; not every day has one."""
    lengths = [rng.choice([0, 0, 1, 2, 40, 400]) for _ in bodies.HISTORY_ARRAYS]
    years = [sorted(rng.sample(range(1000, 1500), size)) for size in lengths]
    return [[b'{"day":"%d-01-01","low":%d}' % (year, rng.randrange(99)) for year in array] for array in years]


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


@pytest.mark.parametrize("data", [b"", b"a", HEAD * 900, b"\xff" * 5000, b"\xff\xffabcabcabc\xff\xffabc" * 700])
def test_every_reader_inflates_what_is_stored(data):
    assert gzip.decompress(codec.compress(data)) == codec.decompress(codec.compress(data)) == data
    for size in (0, 1, len(data) // 2, len(data), 2 * len(data)):  # a wrong size costs time only
        assert codec.decompress(codec.compress(data), size) == data
    assert zlib.decompressobj(-15).decompress(codec.deflate(data)) == data
    assert codec.compress(data)[3:8] == bytes(5), "no flags, no time"


@pytest.mark.parametrize("seed", range(60))
def test_a_spliced_history_is_the_whole_one_however_it_is_cut(seed):
    rng = random.Random(seed)
    arrays = random_arrays(rng)
    found = [detail(rng, arrays, periods) for periods in (1, 2, 2, 5)]
    assert {gzip.decompress(each.member) for each in found} == {written(arrays)}
    assert {each.size for each in found} == {len(written(arrays))}
    assert len({each.digest for each in found}) == 1


@pytest.mark.parametrize("seed", range(60))
def test_a_history_begins_with_the_day_that_was_asked_for(seed):
    rng = random.Random(seed)
    arrays = random_arrays(rng)
    days = [row[8:18].decode() for rows in arrays for row in rows]
    for day in ["0999-12-31", "1200-01-01", "1200-01-02", "1500-01-01", *days[:2], *days[-2:]]:
        later = [[row for row in rows if row[8:18].decode() >= day] for rows in arrays]
        assert detail_since(LINE, members(rng, arrays, rng.randint(1, 5)), day) == written(later)


def test_a_product_without_rows_has_empty_arrays():
    empty = splice(LINE, [])
    assert gzip.decompress(empty.member) == detail_since(LINE, [], "2026-01-01") == written([[], [], []])
    assert empty.digest == detail(random.Random(), [[], [], []], 2).digest


def test_another_row_is_another_digest():
    one, other = ([[b'{"day":"2026-01-01","low":%d}' % low], [], []] for low in (1, 2))
    assert detail(random.Random(), one, 1).digest != detail(random.Random(), other, 1).digest


@pytest.mark.parametrize("seed", range(20))
def test_a_word_is_found_wherever_it_stands(seed):
    rng = random.Random(seed)
    words = sorted({"".join(rng.choices("abé日x", k=rng.randint(1, 5))) for _ in range(rng.choice([0, 1, 40]))})
    products = rng.choice([1, 9, 100]) if words else 0
    lists = [sorted(rng.sample(range(products), rng.randint(1, products))) for _ in words]
    sets = [sorted(rng.sample(range(3), rng.randint(0, 2))) for _ in words]
    columns = {"products": pa.array(lists, pa.list_(pa.uint32())), "sets": pa.array(sets, pa.list_(pa.uint32()))}
    table = pa.table({"word": pa.array(words, pa.string()), **columns})
    suffixes = suffix_table(pa.array(words, pa.string()))
    starts = np.array(sorted(rng.choices(range(products + 1), k=4)))  # of the sets, and an end
    vocabulary = Vocabulary(table, suffixes, substring_table(table, suffixes, starts, products), starts, products)
    for part in [*"abé日x", "ab", "é日", "xx", "abx", "zz", *words[:5]]:
        expected = {ordinal for word, found in zip(words, lists, strict=True) if part in word for ordinal in found}
        mask = vocabulary.mask(part)
        assert set(np.flatnonzero(mask).tolist()) == expected
        started = {
            ordinal for word, found in zip(words, lists, strict=True) if word.startswith(part) for ordinal in found
        }
        assert set(np.flatnonzero(vocabulary.start_mask(part)).tolist()) == started
        in_sets = {row for word, found in zip(words, sets, strict=True) if part in word for row in found}
        expected |= {ordinal for row in in_sets for ordinal in range(starts[row], starts[row + 1])}
        assert set(np.flatnonzero(vocabulary.mask_with_sets(part)).tolist()) == expected
        assert vocabulary.having(part).tolist() == (lists[words.index(part)] if part in words else [])


@pytest.mark.parametrize("seed", range(20))
def test_suffixes_are_sorted_by_their_bytes(seed):
    rng = random.Random(seed)
    letters = "ab" if seed % 2 else "aé日\0\U0001f409"
    words = sorted({"".join(rng.choices(letters, k=rng.randint(0, rng.choice([3, 40])))) for _ in range(seed)})
    words += ["b" * 90_000] * (seed == 19)  # which a copy of each suffix would take 4 GB for
    short = [word for word in words if len(word) < 100]
    expected = sorted(
        (word[at:].encode(), row, len(word[:at].encode())) for row, word in enumerate(short) for at in range(len(word))
    )
    table = suffix_table(pa.array(words, pa.string()))
    found = list(zip(table["word"].to_pylist(), table["start"].to_pylist(), strict=True))
    assert [pair for pair in found if pair[0] < len(short)] == [(row, start) for _, row, start in expected]
    assert [start for row, start in found if row == len(short)] == list(reversed(range(90_000 * (seed == 19))))


@pytest.mark.parametrize(("part", "expected"), [("abc", [0, 1, 5, 7]), ("cx", [0, 1, 7]), ("z", []), ("common", None)])
def test_few_products_are_each_found_once(part, expected):
    words, lists = pa.array(["abcx", "abcy", "common"]), [[0, 1, 7], [1, 5], list(range(100))]
    lists, none = (pa.array(values, pa.list_(pa.uint32())) for values in (lists, [[]] * 3))
    table, starts = pa.table({"word": words, "products": lists, "sets": none}), np.array([0])
    suffixes = suffix_table(words)
    vocabulary = Vocabulary(table, suffixes, substring_table(table, suffixes, starts, 1000), starts, 1000)
    found = vocabulary.few_products(part)
    assert (None if found is None else sorted(found.tolist())) == expected


@pytest.mark.parametrize("names", [[], ["a"], ["a", "a b", "ab", "abcdefgh", "abcdefgh i", "abcdefghi", "日", "日本"]])
def test_names_are_found_by_their_beginning(names):
    lists = pa.array([[row, row + 1] for row in range(len(names))], pa.list_(pa.uint32()))
    columns = {"whole": lists, "base": lists, "short": lists, "entry": pa.array([""] * len(names), pa.string())}
    index = Names(name_table(pa.table({"text": pa.array(names, pa.string()), **columns})))
    for text in ["a", "a b", "ab", "abcdefgh", "abcdefgh i", "日", "z"]:
        equal, with_words, otherwise = index.like(text)
        assert [names[row] for row in equal] == [name for name in names if name == text]
        assert [names[row] for row in with_words] == [name for name in names if name.startswith(f"{text} ")]
        longer = [name for name in names if name.startswith(text) and name[len(text) :].strip(" ")[:1]]
        assert [names[row] for row in otherwise] == [name for name in longer if name[len(text)] != " "]
        assert index.base.between(otherwise).tolist() == [row + n for row in otherwise for n in (0, 1)]


@pytest.mark.parametrize("other", [FORMAT - 1, FORMAT + 1])
@pytest.mark.thorough
def test_a_build_of_another_format_is_refused_with_what_to_do(tmp_path, other):
    store = FolderStore(str(tmp_path))
    build = small_store.add_build(store, 20, live=False)
    name = f"builds/{build}.json"
    store.put(name, json.dumps(json.loads(store.get(name)) | {"format": other}).encode())
    with pytest.raises(
        StoreError, match=rf"has format {other}, this version reads {FORMAT}: `cardpress build --lake … --publish`"
    ):
        open_build(store, build)
