"""The tests of the API that run against other targets as well: a folder of tests imports all of this module.

`tests/nginx` and `tests/fleet` replace the fixtures of the service. The other tests of `tests/api` start services of
their own or look into a store; `pytest --through-nginx tests/api` runs all of them through nginx.
"""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.api import test_paging, test_protocol
from tests.api.test_access import (  # noqa: F401
    test_a_key_and_its_record,
    test_keys_that_will_not_do,
    test_scopes,
    test_ways_to_send_a_key,
)
from tests.api.test_caching import (  # noqa: F401
    test_an_empty_build_is_absent,
    test_an_etag_for_each_encoding,
    test_an_unknown_build,
    test_cache_headers_of_keyed_answers,
    test_cache_headers_of_the_public_description,
    test_errors_are_never_not_modified,
    test_not_modified,
    test_only_the_fingerprint_index_goes_without_rate_headers,
    test_which_clients_get_gzip,
    test_x_build_names_the_build,
)
from tests.api.test_golden import test_answer, test_method, test_no_key, test_scope, test_wrong_key  # noqa: F401
from tests.api.test_paging import test_watchlist_and_sets  # noqa: F401
from tests.api.test_protocol import (  # noqa: F401
    cards_only,
    test_a_refusal_names_the_parameter_and_what_is_allowed,
    test_every_answer_is_open_to_browsers,
    test_odd_but_allowed,
    test_options_that_are_no_preflight,
    test_other_methods_are_refused,
    test_preflight,
    test_the_order_of_checks,
    test_unknown_paths_are_404_before_the_key_is_read,
)
from tests.support.disagreements import disagreements
from tests.support.lakes import FIXED
from tests.support.oracle import Oracle
from tests.support.service import Client
from tests.support.targets import Targets, has_nul

EXAMPLES, TARGETS = 5, 60


@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize(("kind", "sort"), [("all", "trend"), ("sealed", "number")])
def test_cards_page_by_page(client: Client, fixed_oracle: Oracle, kind: str, sort: str, order: str) -> None:
    test_paging.test_cards(client, fixed_oracle, kind, sort, order)


@settings(max_examples=EXAMPLES)
@given(seed=st.integers(0, 2**32 - 1))
def test_answers_are_the_oracles(client: Client, fixed_oracle: Oracle, seed: int) -> None:
    targets = [target for target in Targets(FIXED, random.Random(seed)).some(TARGETS) if not has_nul(target)]
    assert not disagreements(client, fixed_oracle, targets)
    assert not disagreements(client, fixed_oracle, targets), "the second answers may come from a cache"


@pytest.mark.parametrize("path", [path for path in test_protocol.NO_SLUGS if not has_nul(path)])
def test_slugs_that_match_nothing(client: Client, path: str) -> None:
    test_protocol.test_slugs_that_match_nothing(client, path)
