"""The watchlist: items, slug look-up, history and offers."""

from datetime import date, timedelta
from decimal import Decimal

from tests.support.oracle.cards import bare_url, market_url
from tests.support.oracle.clock import DAY, HOUR, bucket, stamp, within_last
from tests.support.oracle.lake import OracleLake, Row
from tests.support.oracle.rounding import average, change_pct, number
from tests.support.oracle.text import fold


class NoSuchSlug(Exception):
    """Nothing matches."""


class SeveralSlugs(Exception):
    """More than one product matches."""


def find(lake: OracleLake, asked: str) -> str:
    """The product's own slug: by slug first, else by a part of exactly one product's URL, whatever query follows."""
    wanted = fold(asked)
    for slug in lake.watchlist:
        if fold(slug) == wanted:
            return slug
    wanted = fold(bare_url(asked) or asked)
    urls = {slug: market_url(row["url"]) for slug, row in lake.watchlist.items()}
    found = [slug for slug, url in urls.items() if url is not None and wanted in fold(bare_url(url))]
    if not found:
        raise NoSuchSlug
    if len(found) > 1:
        raise SeveralSlugs
    return found[0]


def items(lake: OracleLake) -> list[Row]:
    return [item(lake, slug) for slug in sorted(lake.watchlist, key=fold)]


def item(lake: OracleLake, slug: str) -> Row:
    row, checks = lake.watchlist[slug], lake.watch_checks[slug]
    newest = checks[-1] if checks else None
    return {
        "slug": slug,
        "name": row["name"],
        "game": row.get("game"),
        "cardmarket_url": market_url(row["url"]),
        "lowest_price": number(lowest(newest)),
        "num_offers": _num_offers(newest),
        "last_checked": stamp(newest["checked_at"]) if newest else None,
        "change_24h_pct": _change(checks, DAY, 12 * HOUR),
        "change_7d_pct": _change(checks, 7 * DAY, 24 * HOUR),
        "sparkline_14d": _sparkline(checks, lake.as_of),
    }


def history(lake: OracleLake, slug: str, view: str, range_: str) -> Row:
    days = None if range_ == "all" else int(range_.removesuffix("d"))
    buckets: dict[date, list[Decimal | None]] = {}
    for check in lake.watch_checks[slug]:
        if within_last(check["day"], days, lake.as_of):
            buckets.setdefault(bucket(check["day"], view), []).append(lowest(check))
    averages = [(day, average(prices)) for day, prices in sorted(buckets.items())]
    known = [price for _, price in averages if price is not None]
    return {
        "slug": slug,
        "view": view,
        "range": range_,
        "points": [{"date": day.isoformat(), "price": number(price)} for day, price in averages],
        "change_pct_over_range": number(change_pct(known[-1], known[0])) if len(known) > 1 else None,
    }


def offers(lake: OracleLake, slug: str) -> Row:
    newest = lake.watch_checks[slug][-1] if lake.watch_checks[slug] else None
    listed = (newest["offer_list"] or []) if newest else []
    by_price = sorted(listed, key=lambda offer: (offer["price"] is None, offer["price"] or 0))
    return {
        "slug": slug,
        "cardmarket_url": market_url(lake.watchlist[slug]["url"]),
        "as_of": stamp(newest["checked_at"]) if newest else None,
        "offers": [offer | {"price": number(offer["price"])} for offer in by_price],
    }


def lowest(check: Row | None) -> Decimal | None:
    """The lowest price of a check; of its offers where the column is null."""
    if check is None or check["lowest_price"] is not None:
        return check and check["lowest_price"]
    return min((o["price"] for o in check["offer_list"] or [] if o["price"] is not None), default=None)


def _num_offers(check: Row | None) -> int | None:
    if check is None or check["num_offers"] is not None:
        return check and check["num_offers"]
    return None if check["offer_list"] is None else len(check["offer_list"])


def _change(checks: list[Row], ago: int, tolerance: int) -> float | None:
    """Against the priced check nearest to `ago` seconds before the newest one; ties: the earlier.

    Checks come oldest first, with the greatest of the same moment last, so of rows that share day and
    time the one that would stand for them is taken.
    """
    if not checks or lowest(checks[-1]) is None:
        return None
    moment = checks[-1]["checked_at"] - ago
    near = [
        (abs(check["checked_at"] - moment), check["checked_at"], check["day"], -place)
        for place, check in enumerate(checks)
        if lowest(check) is not None and abs(check["checked_at"] - moment) <= tolerance
    ]
    return number(change_pct(lowest(checks[-1]), lowest(checks[-min(near)[3]]))) if near else None


def _sparkline(checks: list[Row], as_of: date) -> list[float | None]:
    days = [as_of - timedelta(days=ago) for ago in range(13, -1, -1)]
    return [number(average(lowest(check) for check in checks if check["day"] == day)) for day in days]
