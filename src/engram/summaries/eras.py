"""Eras: summaries of calendar months, and the pass that updates eras, profile and narrative."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

from engram.clock import to_datetime
from engram.errors import InvalidInput
from engram.hub import Hub
from engram.operation import Help, operation
from engram.store import documents, exchanges
from engram.summaries import gist, versions
from engram.summaries.integration_report import IntegrationReport
from engram.summaries.months import Months
from engram.summaries.versions import ERA, EVERYTHING, GIVEN
from engram.types import Era, Gist

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from engram.store.engine import Row

_MONTH = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])")


@operation()
def summaries_by_month(hub: Hub) -> dict[str, list[Gist]]:
    """Show session summaries by the month their session began in, in the user's time zone."""
    months, uncovered = (
        Months(hub),
        {row["session_id"]: int(row["open"]) for row in exchanges.list_uncovered(hub.engine)},
    )
    return {
        month: [gist.gist_from_row(months.get_gist(session), uncovered.get(session, 0)) for session in session_ids]
        for month, session_ids in sorted(months.began.items())
    }


@operation(writes=True)
def store_era(
    hub: Hub,
    month: Annotated[str, Help("YYYY-MM")],
    content: Annotated[str, Help("summary of the month")],
    session_count: Annotated[int | None, Help("number of sessions it covers; counted if omitted")] = None,
) -> Era:
    """Store the summary of a month as a new version."""
    sources = Months(hub).build_era_sources(parse_month(month))
    if session_count is not None:
        sources["session_count"] = _check_session_count(session_count)
    sources["sessions"] = sources["sessions"] or EVERYTHING
    return era_from_row(
        versions.save_version(hub, ERA, month, versions.clean_content(hub, "content", content), sources, GIVEN)
    )


@operation()
def list_eras(hub: Hub, month: Annotated[str | None, Help("only this month, such as 2026-11")] = None) -> list[Era]:
    """Show the monthly summaries, earliest first."""
    only = None if month is None else parse_month(month)
    rows = [row for row in documents.list_current(hub.engine, ERA) if row["content"] and only in (None, row["key"])]
    return [era_from_row(row) for row in sorted(rows, key=lambda row: row["key"])]


@operation(writes=True)
def integrate(
    hub: Hub,
    rebuild: Annotated[bool, Help("rebuild everything from the messages, even if up to date")] = False,
) -> IntegrationReport:
    """Update eras, profile and narrative from the session summaries."""
    return run_integration(hub, rebuild=rebuild)


def run_integration(
    hub: Hub, *, rebuild: bool = False, think: bool = True, stop: Callable[[], bool] = lambda: False,
    only: Collection[str] = (),
) -> IntegrationReport:  # fmt: skip
    """Update the tiers above session summaries, or some of them, until `stop` returns true; with `think` off, from
    quotes only.
    """
    from engram.summaries.refresh import Integration

    return Integration(hub, rebuild=rebuild, think=think, stop=stop, only=only).run()


def parse_month(month: object) -> str:
    """Return a month in its stored form; raise InvalidInput if it is not a month."""
    if not isinstance(month, str) or not _MONTH.fullmatch(month):
        raise InvalidInput(field="month", reason=f"Cannot read {month!r} as a month. Try 2026-11.")
    return month


def era_from_row(row: Row) -> Era:
    """Convert a stored row to an Era."""
    sources = versions.load_sources(row["sources"])
    return Era(
        month=row["key"], content=row["content"], session_count=sources.get("session_count", 0),
        created_at=to_datetime(row["made_at"]), version=row["version"], made_by=row["made_by"] or "",
        trust=sources.get("trust", "import"),
    )  # fmt: skip


def _check_session_count(number: int) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 1_000_000_000:
        raise InvalidInput(field="session_count", reason=f"{number!r} is not a number of sessions.")
    return number
