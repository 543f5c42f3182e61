"""The groups of the market: the singles of each expansion of the lake, and those of each game."""

import hashlib

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from generator.making.context import BuildContext

NO_GAME = -1


class MarketGroups:
    """The groups, numbered: the sets by id, then the games by folded name.

    Args:
        members: id_product, id_expansion and game_folded of each single of an expansion, sorted by id_product.

    Attributes:
        ids: The sorted ids of the singles.
        of_set, of_game: The group of each single. `NO_GAME` for a single without a game.
        sets: The ids of the sets.
        games: The folded names of the games.
    """

    def __init__(self, members: pa.Table):
        self.ids: NDArray[np.int64] = members["id_product"].to_numpy()
        self.sets, of_set = np.unique(members["id_expansion"].to_numpy(), return_inverse=True)
        games = members["game_folded"].combine_chunks().dictionary_encode()
        self.games: list[str] = sorted(games.dictionary.to_pylist())
        place = {game: number for number, game in enumerate(self.games, len(self.sets))}
        numbers = np.array([place[game] for game in games.dictionary.to_pylist()] + [NO_GAME], np.int64)
        self.of_set: NDArray[np.int64] = of_set.astype(np.int64)
        self.of_game: NDArray[np.int64] = numbers[games.indices.fill_null(NO_GAME).to_numpy()]

    def __len__(self) -> int:
        return len(self.sets) + len(self.games)

    def numbers(self, groups: pa.Table) -> NDArray[np.int64]:
        """Return the numbers of groups that columns id_expansion and game_folded name. Each must be here."""
        games = {game: number for number, game in enumerate(self.games, len(self.sets))}
        sets = {id_: number for number, id_ in enumerate(self.sets.tolist())}
        pairs = zip(groups["id_expansion"].to_pylist(), groups["game_folded"].to_pylist(), strict=True)
        return np.array([games[game] if id_ is None else sets[id_] for id_, game in pairs], np.int64)

    def columns(self, numbers: NDArray[np.int64]) -> dict[str, pa.Array]:
        """Return the columns id_expansion and game_folded of groups. One of the two is null in each row."""
        sets = pa.array([*self.sets.tolist(), *[None] * len(self.games)], pa.int64())
        games = pa.array([*[None] * len(self.sets), *self.games], pa.string())
        return {"id_expansion": sets.take(pa.array(numbers)), "game_folded": games.take(pa.array(numbers))}

    def digest(self, ids: NDArray[np.int64]) -> str:
        """Return a hash of the groups of those singles that are among some sorted ids."""
        among = np.isin(self.ids, ids, assume_unique=True)
        games = np.array([*[""] * len(self.sets), *self.games, ""])[self.of_game[among]]
        text = "\0".join(games.tolist()).encode()
        return hashlib.sha256(self.ids[among].tobytes() + self.sets[self.of_set[among]].tobytes() + text).hexdigest()


def market_groups(context: BuildContext) -> MarketGroups:
    """Return the groups of the lake's catalogue.

    Raises:
        LakeError: The products or expansions break a rule.
    """
    context.tables.open_catalogue()
    return MarketGroups(context.db.answer("views/market_members"))
