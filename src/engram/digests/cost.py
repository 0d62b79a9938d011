"""What sessions cost: tokens by class, and money from a dated price table that anybody may overrule."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from typing import Annotated, Any

from engram.clock import SECOND
from engram.coordination import sessions
from engram.errors import InvalidInput
from engram.hub import Hub
from engram.llm.prices import Prices
from engram.model import Cost
from engram.operation import Help, operation
from engram.store import ledger, usage
from engram.text import name_or_none

PLACES = ("session", "project", "day", "flavor", "model")
PARTS = ("flavor", "model", "project")
CLASSES = ("input", "output", "cache_read", "cache_write", "cache_write_long", "reasoning")
_EPOCH = date(1970, 1, 1)
_CERTAINTY = ("exact", "floor", "uncertain")  # a sum is as sure as its least sure part


@operation()
def cost(
    hub: Hub,
    by: Annotated[str, Help("one line per session, project, day, flavor or model")] = "day",
    session: Annotated[str | None, Help("only this session, with the subagents it sent")] = None,
    project: Annotated[str | None, Help("only this project")] = None,
    flavor: Annotated[str | None, Help("only this agent's")] = None,
    days: Annotated[float, Help("how far back")] = 30.0,
    own: Annotated[bool, Help("only what Engram itself asked of models, by day and purpose")] = False,
    split: Annotated[str | None, Help("each line in parts, by flavor, model or project")] = None,
    domain: Annotated[str | None, Help("only of projects in this domain")] = None,
) -> list[Cost]:
    """Show tokens and money, each answer counted once, every figure marked exact, floor or uncertain."""
    if by not in PLACES:
        raise InvalidInput(field="by", reason=f"{by!r} is none of {', '.join(PLACES)}.")
    if split is not None and split not in PARTS:
        raise InvalidInput(field="split", reason=f"{split!r} is none of {', '.join(PARTS)}.")
    if own:
        return _own(hub, days, by=by, session=session, project=project, flavor=flavor, split=split, domain=domain)
    one = sessions.get_session(hub, session).id if session else None
    since = sessions.back(hub, "days", days)
    rows = usage.totals(
        hub.engine, by, _offset(hub), split, session=one, project=sessions.room(project),
        flavor=name_or_none("flavor", flavor), domain=name_or_none("domain", domain), since=None if one else since,
    )  # fmt: skip
    return _summed(rows, Prices(hub.settings.home), by)


def _own(hub: Hub, days: float, **given: str | None) -> list[Cost]:
    """Return what Engram itself spent, one line per day and purpose."""
    for name, choice in given.items():
        if choice not in (None, "day"):
            raise InvalidInput(field=name, reason="what Engram itself spent is told by day and purpose only.")
    rows = ledger.totals(hub.engine, sessions.back(hub, "days", days), _offset(hub))
    for row in rows:
        row["place"] = f"{_EPOCH + timedelta(days=row['day'])} {row['purpose']}"
        row |= {"part": "", "cache_write_long": 0, "reasoning": 0}
        if row["priced"] < row["answers"]:  # what had no price then gets none now: it may have run on this machine
            row |= {"cost": row["cost"] or 0.0, "priced": row["answers"], "basis": "floor"}
    return _summed(rows, Prices(hub.settings.home), "purpose")


def of_session(hub: Hub, session_id: str) -> Cost | None:
    """Return what one session cost, with the subagents it sent."""
    return of_sessions(hub, [session_id]).get(session_id)


def of_sessions(hub: Hub, ids: Sequence[str]) -> dict[str, Cost]:
    """Return what sessions cost, each with the subagents it sent."""
    found = _summed(usage.of_families(hub.engine, ids), Prices(hub.settings.home), "session")
    return {each.place: each for each in found}


def _summed(rows: Iterable[dict[str, Any]], prices: Prices, by: str) -> list[Cost]:
    places: dict[tuple[Any, str], dict[str, Any]] = {}
    for row in rows:
        total = places.setdefault(
            (row["place"], row["part"]), {**dict.fromkeys(CLASSES, 0), "answers": 0, "money": 0.0}
        )
        for name in (*CLASSES, "answers"):
            total[name] += int(row[name])
        _add_money(total, row, prices)
        total["basis"] = max(total.get("basis", "exact"), row["basis"], key=_CERTAINTY.index)
    return [_cost(place, part, total, by, prices.dated) for (place, part), total in places.items()]


def _add_money(total: dict[str, Any], row: dict[str, Any], prices: Prices) -> None:
    """Add what the flavor itself says a row cost, or what the table says."""
    told = row["cost"] if row["priced"] == row["answers"] else None
    money = float(told) if told is not None else prices.money(row)
    if money is None:
        total.setdefault("unpriced", set()).add(row["model"] or "unknown model")
    else:
        total["money"] += money


def _cost(place: Any, part: str, total: dict[str, Any], by: str, dated: str) -> Cost:
    name = str(_EPOCH + timedelta(days=int(place))) if by == "day" else str(place)
    return Cost(
        place=name, part=part, **{each: total[each] for each in (*CLASSES, "answers", "money", "basis")},
        unpriced=tuple(sorted(total.get("unpriced", ()))), prices_dated=dated,
    )  # fmt: skip


def _offset(hub: Hub) -> int:
    """Return how far the user's clock is from UTC: a day ends at their midnight."""
    moment = time.localtime(hub.now() // SECOND)
    return moment.tm_gmtoff * SECOND
