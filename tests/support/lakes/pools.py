"""Difficult texts, numbers, prices and names, of which generated lakes are made."""

import random

WORDS = (
    "Charizard", "charizard", "CHARIZARD", "ex", "EX", "Pokémon", "Poke\u0301mon", "Flabébé", "Straße",
    "STRASSE", "İstanbul", "istanbul", "ı", "Ångström", "\u212bngstrom", "２５", "25", "Δ", "δ", "ς", "σ",
    "Σ", "ﬁre", "fire", "Ⅳ", "iv", "ナッシー", "ﾅｯｼｰ", "かﾞ", "伝説", "🐉", "👩‍🚀", "♀", "☆", "\"\"Quoted\"\"",
    "'s", "’s", "back\\slash", "%", "_", "[x | y]", "//", "a/b", "<b>", "&amp;", "{}", "$1", "null",
    "NaN", "-1", "1e3", "\u200e", "\u200d", "e\u0301\u0323", "é\u0323", "\u0301", "´", "½", "ŉ", "ǆ",
    "ᾳ", "ẞ", "가", "\u1100\u1161", "\ufdfa", "ﷺ", "\U0001d400", "\ufeff", "\u00ad", "\ud7a3",
    "\U0010ffff", "z", "Z", "~", "é", "É",
    "❤\ufe0f", "❤", "का", "क", "กิ", "x\u20dd", "x", "\u034f", "か\u3099", "が", "ﬅ", "ſt", "ᾠ", "Ω", "\u2126",
)  # fmt: skip
GAPS = (" ", " ", " ", " ", "  ", "\u00a0", "\t", "\n", "\u2028", "\u3000", "-", "", "\x01", "\x7f", "\u0085")
NUMBERS = (
    "4", "004", "04", "TG04", "tg4", "TG4", "4a", "4A", "0", "000", "00", "14", "BS 4", "BT5-086",
    "BT05-86", "!", "?", "", "10", "9", "1/102", "001/102", "12345678901", "012345678901", "A", "４",
    "é4", "E4", "٣", "SWSH050", "SWSH50", " 4",
)  # fmt: skip
RARITIES = (
    "Common", "common", "Ultra Rare", "ULTRA RARE", "Rare Ultra", "Holo Rare ", "Rare Hólo", "", "\u0301", "Straße",
)  # fmt: skip
CATEGORIES = ("Single", "Booster", 'Box "A"', "")
SELLERS = ("adam", "Adam", "émile", "zoe", "Zoë", "ａ", "𝒶", "\ue000", "\U0001f600", "a b", '"q"', "\\")
CONDITIONS = ("MT", "NM", "EX", "GD", "LP", "PL", "PO")
SET_NAMES = (
    "151", "Base Set", "base set", "Base Set 2", "Pokémon", "Poke\u0301mon", "\u00c5ngstr\u00f6m",
    "\u212bngstro\u0308m",
    "Champion’s \"Path\"", "404", "007", "伝説の鼓動", "A & B", " padded ", "-5", "١٥١",
)  # fmt: skip
PRICES = (
    0.0, 0.01, 0.02, 0.02, 0.02, 0.021, 0.125, 0.005, 0.004999, 1.0, 1.0, 1.005, 1.015, 1.025, 2.675,
    2.5, 10.995, 19.99, 100.0, 1.115, 3200.0, 3199.995, 999999.99, 234567.895, 0.1 + 0.2, 1e-9,
    123456789.125, 4.35, 8.575, 0.145, 4.0, 5.0,
)  # fmt: skip
GAMES = ("Pokémon", "POKÉMON", "Pokemon", "Magic", "magic", " Magic", "Straße", "a/b", "", "\u0301")
SLUGS = (
    "Charizard", "charizard-base", "Charizard-Base-2", "sealed/Booster-Box", "sealed/booster-box/2",
    "Épée", "straße", "a b", "50%", "a%2Fb", "x+y", "plus", "history", "a/history", "offers", "ナッシー",
    "q?x", "h#x", "..", "a//b", "İx", "quote\"s", "back\\slash", "a.json", "z",
)  # fmt: skip
SCHEMES = ("https", "https", "http", "HTTPS")
CATALOGUES = ("tcgplayer", "tcgdex", "scryfall", "_", "0", "a_1", "z" * 32)
VALUES = (
    "1", "10", "9", "010", "base1-4", "Base1-4", "é", "e\u0301", "\uffee", "\U0001f409", "\U0010ffff", "a/b", "a%2Cb",
    "+",     "&=#?", "\"q\"", "\\", "'", "..", "\u200b", "\u00ad", "\ufeff", "x" * 200, "\U0001f409" * 200, "null",
    "base1-4\u200d", "3b1c1f2e-6a0e-4f3c-9d0e-1a2b3c4d5e6f",
)  # fmt: skip
URL_PARTS = (
    "Singles", "Sealed", "Base-Set", "Charizard-ex", "Charizard-ex-V2", "charizard", "Épée", "Straße", "Booster-Box",
    "a",
)  # fmt: skip
OTHER_URLS = (
    "javascript:alert(1)//Charizard-ex", "ftp://market.example/a", "/en/Singles", " https://x", "", "https", "?a",
)  # fmt: skip
URL_TAILS = ("", "", "?language=1", "#top", "?a=b#c", "#a?b", "?a?b", "?", "#")


def phrase(rng: random.Random) -> str:
    """A name: a few words with unusual gaps, now and then with a trailing one."""
    words = [rng.choice(WORDS) for _ in range(rng.randint(1, 4))]
    text = words[0] + "".join(rng.choice(GAPS) + word for word in words[1:])
    return text + rng.choice(("", "", "", " ", "  "))


def url(rng: random.Random) -> str:
    """A URL, now and then one that no answer shows."""
    return rng.choice(OTHER_URLS) if rng.random() < 0.1 else web_url(rng)


def web_url(rng: random.Random) -> str:
    path = "/".join(rng.choice(URL_PARTS) for _ in range(rng.randint(1, 3)))
    return f"{rng.choice(SCHEMES)}://market.example/en/{path}{rng.choice(URL_TAILS)}"


def price(rng: random.Random) -> float:
    return (
        rng.choice(PRICES) if rng.random() < 0.8 else round(rng.random() * 10 ** rng.randint(0, 5), rng.randint(0, 6))
    )
