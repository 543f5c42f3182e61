"""How names compare: one table for the functions of generator and shim, for those of the pages, and for the oracle."""

from typing import NamedTuple


class Cut(NamedTuple):
    """A name with its words, of its base name, its short name and its front face, joined by spaces; "" for none."""

    name: str
    words: str
    base: str
    short: str = ""
    face: str = ""


CASES = (
    Cut("Boss's Orders", "bosss orders", "bosss orders"),
    Cut("Boss\u2019s Orders - Ghetsis [Draw]", "bosss orders ghetsis draw", "bosss orders ghetsis", "bosss orders"),
    Cut("Boss\u2018s Or\u201bd\u02bce\u00b4r`s\u2032", "bosss orders", "bosss orders"),
    Cut("Charizard-EX", "charizard ex", "charizard ex"),
    Cut("Mewtwo & Mew-GX", "mewtwo mew gx", "mewtwo mew gx"),
    Cut("Nidoran\u2642", "nidoran", "nidoran"),
    Cut("Charizard ex [Brave Wing | Explosive Vortex]", "charizard ex brave wing explosive vortex", "charizard ex"),
    Cut("Pikachu (V.1) [Gnaw]", "pikachu v 1 gnaw", "pikachu"),
    Cut("Pikachu[Gnaw]", "pikachu gnaw", "pikachu gnaw"),
    Cut("[Unown] (A)", "unown a", "unown"),
    Cut(" [Unown] (A)", "unown a", "unown a"),
    Cut("\u2606 [Star]", "star", "star"),
    Cut("\u2606 - \u2606 (Gold)", "gold", "gold"),
    Cut("N - A - B", "n a b", "n a b", "n"),
    Cut("Brazen Borrower // Theft", "brazen borrower theft", "brazen borrower theft", face="brazen borrower"),
    Cut("Fire / Ice // Ash [x]", "fire ice ash x", "fire ice ash", face="fire"),
    Cut("Who (W // B) - What / When", "who w b what when", "who", face="who w"),
    Cut("Dusk//Dawn /// Up", "dusk dawn up", "dusk dawn up"),
    Cut(" // Ice", "ice", "ice"),
    Cut("A [x - y]", "a x y", "a"),
    Cut("A (x - y", "a x y", "a"),
    Cut(" - A", "a", "a"),
    Cut("Flab\u00e9b\u00e9  \u00c9TOILE_2", "flabebe etoile 2", "flabebe etoile 2"),
    Cut("Fl\u0065\u0301 \u212b\uff12\uff15 \ufb01re", "fle a25 fire", "fle a25 fire"),
    Cut("STRA\u1e9eE \u0131 \u0391\u03a3", "strasse \u0131 \u03b1\u03c3", "strasse \u0131 \u03b1\u03c3"),
    Cut("Boss\uff07s \uff40 \u1fefx", "boss s x", "boss s x"),
    Cut("Stra\u00dfe \u2162 \u00bd", "strasse iii 1 2", "strasse iii 1 2"),
    Cut("\u30ca\u30c3\u30b7\u3000\u4f1d\u8aac", "\u30ca\u30c3\u30b7 \u4f1d\u8aac", "\u30ca\u30c3\u30b7 \u4f1d\u8aac"),
    Cut("\u0149a", "\u02bcna", "\u02bcna"),
    Cut("2\u2075\u2033 \u0661", "25 \u0661", "25 \u0661"),
    Cut("\U0001f409!", "", ""),
    Cut("'", "", ""),
    Cut("", "", ""),
)  # fmt: skip
