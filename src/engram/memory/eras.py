"""Eras: what each calendar month came to, and the pass that brings eras, profile and narrative up to date."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

from engram.clock import moment
from engram.errors import InvalidInput
from engram.hub import Hub
from engram.memory import gist, versions
from engram.memory.months import Months
from engram.memory.versions import ERA, EVERYTHING, GIVEN
from engram.model import Era, Gist
from engram.operation import Help, operation
from engram.store import documents, exchanges
from engram.value import value

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from engram.store.engine import Row

_MONTH = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])")


@value
class Integrated:
    """What bringing eras, profile and narrative up to date took."""

    eras: tuple[str, ...]  # months made
    removed: tuple[str, ...]  # months without a session any more
    fresh: int  # eras that were up to date
    kept: tuple[str, ...]  # months that somebody wrote and that are out of date: only a model replaces them
    profile: str  # made, fresh, kept (written by somebody; only a model replaces it), none, left for later
    narrative: str
    by: dict[str, int]
    fallbacks: dict[str, int]
    failed: dict[str, str]


@operation()
def summaries_by_month(hub: Hub) -> dict[str, list[Gist]]:
    """Show the gists by the month their session began in, where the user lives."""
    months, waiting = Months(hub), {row["session_id"]: int(row["open"]) for row in exchanges.uncovered(hub.engine)}
    return {
        month: [gist.view(months.gist(each), waiting.get(each, 0)) for each in began]
        for month, began in sorted(months.began.items())
    }


@operation(writes=True)
def store_era(
    hub: Hub,
    month: Annotated[str, Help("YYYY-MM")],
    content: Annotated[str, Help("what the month came to")],
    session_count: Annotated[int | None, Help("how many sessions it is made of; counted if left out")] = None,
) -> Era:
    """Keep the digest of a month as its newest version."""
    facts = Months(hub).sources(month_named(month))
    if session_count is not None:
        facts["session_count"] = _count(session_count)
    facts["sessions"] = facts["sessions"] or EVERYTHING
    return view(versions.put(hub, ERA, month, versions.fit(hub, "content", content), facts, GIVEN))


@operation()
def list_eras(hub: Hub, month: Annotated[str | None, Help("only this one, like 2026-11")] = None) -> list[Era]:
    """Show the months, the earliest first."""
    only = None if month is None else month_named(month)
    rows = [row for row in documents.currents(hub.engine, ERA) if row["content"] and only in (None, row["key"])]
    return [view(row) for row in sorted(rows, key=lambda row: row["key"])]


@operation(writes=True)
def integrate(
    hub: Hub,
    rebuild: Annotated[bool, Help("make everything again from the exchanges, up to date or not")] = False,
) -> Integrated:
    """Bring eras, profile and narrative up to date with the gists."""
    return integrated(hub, rebuild=rebuild)


def integrated(
    hub: Hub, *, rebuild: bool = False, think: bool = True, stop: Callable[[], bool] = lambda: False,
    only: Collection[str] = (),
) -> Integrated:  # fmt: skip
    """Bring the tiers above gists up to date, or only some, until told to stop; without thinking, of quotes alone."""
    from engram.memory.integration import Integration

    return Integration(hub, rebuild=rebuild, think=think, stop=stop, only=only).run()


def month_named(month: object) -> str:
    """Return a month as it is written down, or say that it is none."""
    if not isinstance(month, str) or not _MONTH.fullmatch(month):
        raise InvalidInput(field="month", reason=f"{month!r} is not a month; say e.g. 2026-11.")
    return month


def view(row: Row) -> Era:
    """Turn a stored row into the value users see."""
    facts = versions.loaded(row["sources"])
    return Era(
        month=row["key"], content=row["content"], session_count=facts.get("session_count", 0),
        created_at=moment(row["made_at"]), version=row["version"], made_by=row["made_by"] or "",
        trust=facts.get("trust", "import"),
    )  # fmt: skip


def _count(number: int) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 1_000_000_000:
        raise InvalidInput(field="session_count", reason=f"{number!r} is not a number of sessions.")
    return number
