"""The vocabulary of the demo lake. All names are invented."""

from itertools import product


def _pairs(firsts: str, seconds: str, between: str = " ") -> list[str]:
    return [between.join(words) for words in product(firsts.split(), seconds.split())]


GAMES = ["Mythgrove", "Starfall Duels", "Rune & Ruin", "Picnic Kaiju"]

CREATURES = _pairs(
    "Ember Moss Frost Gale Thorn Rust Lumen Brine Dusk Pebble Quill Spark Cinder Bramble Murk Glimmer Hollow Copper "
    "Velvet Tumble Marrow Saffron Nettle Ivory Grim Hazel Soot Willow Rumble Shiver Amber Clover Onyx Puddle Mirth "
    "Whistle Gravel Plume Vesper Zephyr Kettle Lantern Mottle Bristle Cobalt Drizzle Fennel Juniper Russet Tangle",
    "grin whisk fang tail hare newt vole drake finch toad lynx wyrm mane hoof beak shell claw paw snout crest wing "
    "horn bite glow step song root leaf husk spine badger otter crow mantis beetle stoat ibis gecko tapir yak",
    between="",
)
MARKS = [" ★", " δ", " α", " Ω", " Lv. 3", " ex", " EX", " & Friends", " ♀", " ☆"]

MOVES = _pairs(
    "Cinder Warm Double Lunar Silent Hidden Rolling Bitter Golden Echo Frozen Sudden Spiral Thunder Drowsy Mirror "
    "Feather Iron Hungry Stray Déjà Señal Götter Über",
    "Dash Up Slap Howl Drift Gaze Bloom Pounce Lullaby Ambush Shuffle Flare Tackle Whirl Nap Toll Promise Charge "
    "Spore Écume Funke Kick Snare Tide",
)

ITEMS = [
    "Trail Ration", "Pocket Lens", "Swap Token", "Grand Swap Token", "Leaf Essence", "Fire Essence", "Tide Essence",
    "Old Rope", "Night Ferry", "Lost Ticket", "Market Day", "Second Breakfast", "Weather Vane", "Rusty Key",
    "Storm Jar", "Hidden Path", "Crystal Flask", "Guild Banner", "Snack Cart", "Mending Thread", "Signal Fire",
    "Dream Ledger", "Sealed Letter", "Broken Compass",
]  # fmt: skip
PEOPLE = ["Marla's", "Tobin’s", "Aunt Inés’", "Dr. Völk's", "Zoë's", "Captain Brix's", "Old Man Ødegård’s", "Nuño’s"]

# Every 29th product has one of these, in turn. They are hard for search, folding, JSON and HTML.
ODD_NAMES = [
    "X", "N", "Qi", "Ow", "_____", "___ of the Week", "100% Grin", "%", "50%_off Voucher", "25x Swap Token",
    "4 Prize Picnic", "3 vs 3 Hoof Brawl", "007 Ferret", "Café Ghoul", "Cafe\u0301 Ghoul", "Cafe Ghoul",
    "Señor Quillpaw", "Öxling", "Ñandúfer [Über Kick]", "Façade Imp", "Łumen Fox", "Straßenkater", "STRASSENKATER",
    "Æthervole", "İnci Newt", "ﬁnchling", "Nº 7 Beetle", "Dr. Ōkamori", "Ratón꞉Rey", "カゲトカゲ[Shade Lizard]",
    "ヒカリの森", "ガラスのねこ", "Ms. \"Sly\" Otter", "Kongo, \"\"Sleeping Yak\"\"", "\"Achoo! Run!\"",
    "Fire // Frost", "Token (Red */*)", "<b>Bold</b> Badger", "Tom & Jinx", "Tide;Drop", "C:\\Imp",
    "Back\\slash Beetle", "#1 Stoat", "Who? What?!", "Plus+Minus", "Caret^Crow", "Dusk’s Boss's Orders", "Grin  Whisk",
    "Soot Yak ", "Twin★Toad", "Twin☆Toad", "δ Drake", "Embergrin", "embergrin",
    "Embergrin ★", "Embergrin [Cinder Dash | Warm Up]",
    "Our Surveys Show That Players Love Names Which Never Seem to End, so Here Is a Very Long "
    "Name for a Very Small Pebblehare With Rather Big Ideas",
    "Vesper\u200eSong", "½ Hoof", "Ⅳ Lanterns", "٣ Stars", "Ẑealot", "Ex-Exile ex",
]  # fmt: skip

_PLAIN_SETS = _pairs(
    "Ember Silver Broken Distant Crimson Sunken Whispering Eternal Shattered Verdant Obsidian Wandering Forgotten "
    "Radiant Howling Gilded Starlit Ashen Tidal Feral Arcane Hallowed Restless Waning Jagged",
    "Court Horizon Depths Belfry Frontier Lagoon Vault Harvest Eclipse Crossing Summit Parade Gallery Relics Garden "
    "Voyage Citadel Embers Accord Rift Orchard Season Masque Chorus Archive",
)
_SET_TAILS = ["", " Promos", " II", ": Encore", " Reprints", " 2", " Trainer Decks", " à la Carte"]
SET_NAMES = [name + tail for tail in _SET_TAILS for name in _PLAIN_SETS]

# Sets that are hard for filters, with their games. 1217 is the id of the third, which a filter by this text must find.
AWKWARD_SETS: list[tuple[str, str | None]] = [
    ("Ember Court", GAMES[0]), ("Ember Court 2", GAMES[0]), ("Return to Ember Court", GAMES[0]),
    ("ember court", GAMES[1]), ("151", GAMES[0]), ("1217", GAMES[0]), ("Twin Eclipse", GAMES[0]),
    ("Twin Eclipse", GAMES[0]), ("Promos", GAMES[0]), ("Promos", GAMES[1]), ("Warden's Vigil", GAMES[2]),
    ("Warden’s Vigil", GAMES[2]), ("Éclats d’Ébène", GAMES[1]), ("Nocturne E\u0301ternel", GAMES[1]),
    ("Über & Unter", GAMES[2]), ('"Q" Promos', GAMES[3]), ("100% Foil_Promos", GAMES[3]),
    ("HQ—Unbound: The Very Long Road That Leads From the Hollow Harbour to the House of Hours", GAMES[2]),
    ("ねこの森", GAMES[3]), ("Q", None), ("Unreleased Horizon", GAMES[0]),
]  # fmt: skip

# For each rarity: how many cards have it, and what the dearest of them cost in cents.
RARITIES = {
    "Common": (30, 200), "Uncommon": (25, 1_000), "Rare": (16, 4_000), "Holo Rare": (7, 12_000),
    "Holo Rare ": (2, 12_000), "HoloRare": (1, 12_000), "Double Rare": (5, 30_000), "Double rare": (1, 30_000),
    "Ultra Rare": (5, 80_000), "ULTRA RARE": (1, 80_000), "UltraRare": (1, 80_000), "Épique": (1, 120_000),
    "Secret Rare": (3, 500_000), "Promo": (2, 8_000),
}  # fmt: skip

SEALED = ["Booster", "Booster Box", "Display", "Tin", "Box Set", "Theme Deck", "Coin", "Blister", "Lot"]
SEALED_FOLDERS = [ware.replace(" ", "-") + ("es" if ware.endswith("x") else "s") for ware in SEALED]

SELLERS = _pairs(
    "Kärtchen Señor Łukasz böse O'Malley カード Björn Lucky Ñoño Dusty Œuvre Český Foil-Attic",
    "Kiste Cartas TCG karten Cards 屋 Hoard Boutique Vault-24 Market (PRO) Shop_7 2000 Sons &Co. Oy",
)

CONDITION_CODES = ["NM", "EX", "MT", "GD", "LP", "PL", "PO"]
CONDITIONS = [*CONDITION_CODES, "Mint", "nm"]  # a build skips offers with the last two, which are no codes
CONDITION_WEIGHTS = [500, 150, 80, 80, 80, 60, 45, 3, 2]

COMMENTS = [
    "Ships tomorrow", "signed, ask for photos", "Light scratch on the back…", "aus Sammlung, Nichtraucher",
    "100% mint!!", "pack fresh → sleeve", "état neuf", "“see scan”", "NM/EX; no returns", "", "line one\nline two",
]  # fmt: skip
QUANTITIES = ["1", "1", "1", "1", "2", "3", "4", "4+", "10+"]
