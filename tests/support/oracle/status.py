"""The status object (section 3)."""

from datetime import date

from tests.support.oracle.cards import FILTER
from tests.support.oracle.clock import DAY, stamp
from tests.support.oracle.lake import OracleLake, Row


def status(lake: OracleLake, build_id: str | None) -> Row:
    return {
        "build": {"id": build_id, "as_of": lake.as_of.isoformat()},
        "watchlist": _watchlist(lake),
        "catalogue": _catalogue(lake),
        "filtered_price": _filtered_price(lake),
    }


def _watchlist(lake: OracleLake) -> Row:
    newest = [checks[-1]["checked_at"] for checks in lake.watch_checks.values() if checks]
    last = stamp(max(newest, default=None))
    return {"products": len(lake.watchlist), "checked": len(newest), "last_checked": last}


def _catalogue(lake: OracleLake) -> Row:
    kinds = [row["kind"] for row in lake.products.values()]
    guide_day = max((max(days) for days in lake.guide.values()), default=None)
    return {
        "products": len(kinds),
        "singles": kinds.count("single"),
        "sealed": kinds.count("sealed"),
        "sets": len(lake.expansions),
        "price_guide_day": guide_day and guide_day.isoformat(),
        "listing_scraped_at": stamp(max(_newest_times(lake.listings, "scraped_at"), default=None)),
    }


def _filtered_price(lake: OracleLake) -> Row:
    newest = _newest_times(lake.checks, "checked_at")
    latest = max(newest, default=None)
    return {
        "filter": FILTER,
        "checked": len(newest),
        "never_checked": len(lake.products) - len(newest),
        "checked_last_24h": sum(latest - time <= DAY for time in newest),
        "latest_checked_at": stamp(latest),
        "oldest_checked_at": stamp(min(newest, default=None)),
    }


def _newest_times(table: dict[int, dict[date, Row]], time: str) -> list[int]:
    return [days[max(days)][time] for days in table.values()]
