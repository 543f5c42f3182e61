"""The sorts of /cards are named in `edge_auth.contract.sorts.SORTS`; the SQL that ranks products has the same ones."""

import re

from edge_auth.contract import sorts
from generator.database import sql_text

RANK = re.compile(r"over \(order by (.*?)\) - 1 as rank_(\w+)")


def test_the_rankings_have_every_sort_in_its_default_order() -> None:
    ranks = {sort: key for key, sort in RANK.findall(sql_text("views/rankings"))}
    assert list(ranks) == list(sorts.SORTS)
    for sort, key in ranks.items():
        assert key.endswith("id_product"), "equal keys are ordered by id"
        assert (" desc" not in key) == sorts.SORTS[sort].ascending


def test_the_rankings_say_which_products_have_a_key() -> None:
    assert re.findall(r" as keyed_(\w+)", sql_text("views/rankings")) == list(sorts.SORTS)
