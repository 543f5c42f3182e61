"""Comparison of the service's answers with the oracle's."""

from collections.abc import Iterable

from tests.support.oracle import Oracle, differences
from tests.support.service import Client, HttpAnswer, Service
from tests.support.targets import has_nul


def disagreements(client: Client, oracle: Oracle, targets: Iterable[str], most: int = 8) -> list[str]:
    """Return a line for each difference, about `most` lines at most; an empty list if service and oracle agree."""
    found: list[str] = []
    for target in targets:
        if Service.through_nginx and has_nul(target):
            continue
        found += [f"{target}  {line}" for line in _compare(oracle, target, client.get(target))[:3]]
        if len(found) >= most:
            break
    return found


def _compare(oracle: Oracle, target: str, answer: HttpAnswer) -> list[str]:
    status, expected = oracle.ask(target)
    if answer.status != status:
        wanted = "" if status == 200 else expected
        return [f"expected {status} {wanted}, got {answer.status} {answer.text[:160]!a}"]
    if status != 200:
        return [] if answer.code == expected else [f"expected {expected}, got {answer.code}"]
    got = answer.json
    if "pagination" in expected and answer["X-Total-Count"] != str(oracle.total(target)):
        return [f"expected X-Total-Count {oracle.total(target)}, got {answer['X-Total-Count']}"]
    if target.partition("?")[0].endswith("/fingerprints"):
        got["entries"].sort(key=lambda entry: entry["key"])  # the contract names no order
    return differences(expected, got)
