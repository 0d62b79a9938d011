"""What sessions cost: tokens by class, and money by a dated price table that users can override."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from typing import Annotated, Any

from engram.capture.digests.calendar_days import LONGEST, find_range, list_offsets
from engram.errors import InvalidInput
from engram.hub import Hub
from engram.models.prices import Prices
from engram.operation import Help, operation
from engram.platform.text import validate_optional_name
from engram.sessions import lifecycle
from engram.store import model_calls, token_usage
from engram.types import Cost

PLACES = ("session", "project", "day", "flavor", "model")
PARTS = ("flavor", "model", "project")
CLASSES = ("input", "output", "cache_read", "cache_write", "cache_write_long", "reasoning")
_EPOCH = date(1970, 1, 1)
_CERTAINTY = ("exact", "floor", "uncertain")  # a sum is only as certain as its least certain part


@operation()
def cost(
    hub: Hub,
    by: Annotated[str, Help("one row per session, project, day, agent or model")] = "day",
    session: Annotated[str | None, Help("only this session, including its subagents")] = None,
    project: Annotated[str | None, Help("only sessions in this project")] = None,
    flavor: Annotated[str | None, Help("only sessions of this agent")] = None,
    days: Annotated[float, Help("number of days, including today")] = 30.0,
    own: Annotated[bool, Help("only Engram's own model calls, by day and purpose")] = False,
    split: Annotated[str | None, Help("split each row by agent, model or project")] = None,
    domain: Annotated[str | None, Help("only projects in this domain")] = None,
) -> list[Cost]:
    """Show what your sessions cost, in tokens and money.

    Every answer is counted once. A sum is exact, a floor (some usage is not in the transcripts) or uncertain.
    """
    by, split = _check_grouping("by", by, PLACES), split and _check_grouping("split", split, PARTS)
    if own:
        return _list_own_costs(
            hub, days, by=by, session=session, project=project, flavor=flavor, split=split, domain=domain
        )
    session_filter = lifecycle.get_session(hub, session).id if session else None
    since, offsets = _find_days(hub, days, session_filter is not None)
    rows = token_usage.fetch_totals(
        hub.engine,
        by,
        offsets,
        split,
        session=session_filter,
        project=lifecycle.parse_project_filter(project),
        flavor=validate_optional_name("flavor", flavor),
        domain=validate_optional_name("domain", domain),
        since=since,
    )
    return _sum_costs(rows, Prices(hub.settings.home), by)


def _check_grouping(field: str, grouping: str, known: tuple[str, ...]) -> str:
    """Return how rows are grouped; people say agent for what the store calls flavor."""
    grouping = "flavor" if grouping == "agent" else grouping
    if grouping not in known:
        names = ", ".join("agent" if name == "flavor" else name for name in known)
        raise InvalidInput(field=field, reason=f"Unknown value {grouping!r}. Choose one of: {names}.")
    return grouping


def _list_own_costs(hub: Hub, days: float, **filters: str | None) -> list[Cost]:
    """Return the cost of Engram's own model calls, one row per day and purpose."""
    for name, choice in filters.items():
        if choice not in (None, "day"):
            raise InvalidInput(field=name, reason="Engram's own costs are shown by day and purpose only.")
    prices, (since, offsets) = Prices(hub.settings.home), _find_days(hub, days)
    rows = model_calls.sum_by_day(hub.engine, since or 0, offsets)
    for row in rows:
        row["place"] = f"{_EPOCH + timedelta(days=row['day'])} {row['purpose']}"
        row |= {"part": "", "cache_write_long": 0, "reasoning": 0, "speed": "", "band": 0}
        if row["priced"] < row["answers"]:  # no price then, none now: it may have run on this machine
            row |= {"cost": row["cost"] or 0.0, "priced": row["answers"], "basis": "floor"}
            row["unpriced"] = prices.find_prices(row["model"]) is None
    return _sum_costs(rows, prices, "purpose")


def get_session_cost(hub: Hub, session_id: str) -> Cost | None:
    """Return the cost of one session, including its subagents."""
    return get_session_costs(hub, [session_id]).get(session_id)


def get_session_costs(hub: Hub, ids: Sequence[str]) -> dict[str, Cost]:
    """Return the cost of sessions, each including its subagents."""
    costs = _sum_costs(token_usage.fetch_family_totals(hub.engine, ids), Prices(hub.settings.home), "session")
    return {item.place: item for item in costs}


def _sum_costs(rows: Iterable[dict[str, Any]], prices: Prices, by: str) -> list[Cost]:
    totals: dict[tuple[Any, str], dict[str, Any]] = {}
    for row in rows:
        total = totals.setdefault(
            (row["place"], row["part"]), {**dict.fromkeys(CLASSES, 0), "answers": 0, "money": 0.0}
        )
        for name in (*CLASSES, "answers"):
            total[name] += int(row[name])
        basis = _add_money(total, row, prices)
        total["basis"] = max(total.get("basis", "exact"), basis, key=_CERTAINTY.index)
    return [_build_cost(place, part, total, by, prices.dated) for (place, part), total in totals.items()]


def _add_money(total: dict[str, Any], row: dict[str, Any], prices: Prices) -> str:
    """Add the cost reported by the agent, or computed from the price table; return how certain it is."""
    money = prices.compute_cost(row)
    if row["priced"] == row["answers"] and row["cost"] is not None:
        total["money"] += float(row["cost"])
    elif money is not None:
        total["money"] += money
        return str(row["basis"]) if prices.knows_speed(row["model"], row["speed"]) else "uncertain"
    if row.get("unpriced", money is None and row["cost"] is None):
        total.setdefault("unpriced", set()).add(row["model"] or "unknown model")
    return str(row["basis"])


def _build_cost(place: Any, part: str, total: dict[str, Any], by: str, dated: str) -> Cost:
    name = str(_EPOCH + timedelta(days=int(place))) if by == "day" else str(place)
    return Cost(
        place=name, part=part, **{field: total[field] for field in (*CLASSES, "answers", "money", "basis")},
        unpriced=tuple(sorted(total.get("unpriced", ()))), prices_dated=dated,
    )  # fmt: skip


def _find_days(hub: Hub, days: float, unlimited: bool = False) -> tuple[int | None, list[tuple[int, int]]]:
    """Return when whole days begin, None without a limit, and their UTC offsets."""
    lifecycle.compute_since(hub, "days", days)  # refuses what is no number of days
    since, until = find_range(hub, LONGEST if unlimited else days)
    return None if unlimited else since, list_offsets(hub, since, until)
