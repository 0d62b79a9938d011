"""The statements of users about themselves at the end of each month.

Each month is merged onto the previous one and stored, so a new day costs only its own month, however long the history
is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engram.store import documents
from engram.summaries import extract, gist, versions
from engram.summaries.extract import Quote
from engram.summaries.profile_statements import Statement, StatementSet
from engram.summaries.versions import STANDING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engram.hub import Hub
    from engram.summaries.months import Months

_MOST = 400  # statements carried over; a profile shows a tenth of them
_EVIDENCE = 50  # exchanges and sessions of a statement


def list_standing_statements(hub: Hub, months: Months, *, keep: bool = True) -> list[Statement]:
    """Return the statements that hold now, in the order they were last said."""
    fingerprints = _fingerprint_months(months)
    stale = list(fingerprints)
    statements = StatementSet()
    for index, month in reversed(list(enumerate(fingerprints))):
        row = documents.get_current(hub.engine, STANDING, month)
        if row and versions.load_sources(row["sources"]).get("hash") == fingerprints[month]:
            statements, stale = _load_statements(row["content"]), stale[index + 1 :]
            break
    for month in stale:
        statements.add_lines(_iter_month_lines(hub, months, month))
        statements = _select_best(statements)
        if keep:
            _store_month(hub, month, statements, fingerprints[month])
    return statements.list_standing()


def _fingerprint_months(months: Months) -> dict[str, str]:
    """Return a fingerprint for each month that covers its sessions and those of all earlier months."""
    fingerprints, previous = {}, ""
    for month in sorted(months.touched):
        previous = fingerprints[month] = versions.fingerprint((previous, months.build_era_sources(month)["hash"]))
    return fingerprints


def _iter_month_lines(hub: Hub, months: Months, month: str) -> Iterator[Quote]:
    for session in months.touched[month]:
        yield from (line for line in gist.load_lines(hub, session)["statements"] if months.month_of(line.at) == month)


def _select_best(statement_set: StatementSet) -> StatementSet:
    """Return the statements to carry over: the most informative, and of those the newest."""
    statements = list(statement_set.iter_statements())
    ranked = sorted(range(len(statements)), key=lambda place: (-statements[place].weight, -place))[:_MOST]
    return StatementSet(statements[index] for index in sorted(ranked))


def _store_month(hub: Hub, month: str, statement_set: StatementSet, fingerprint: str) -> None:
    """Store the statements at a month's end, replacing the old ones: they can be rebuilt at any time."""
    statements = list(statement_set.iter_statements())
    sources = {
        "hash": fingerprint,
        "sessions": sorted({session for statement in statements for session in statement.sessions}),
    }
    content = versions.dump_sources({"statements": [_dump_statement(statement) for statement in statements]})
    with hub.engine.transaction():
        documents.delete(hub.engine, STANDING, month)
        documents.add_version(
            hub.engine, STANDING, month, 1, content, extract.RULES, hub.now(), versions.dump_sources(sources)
        )  # fmt: skip


def _dump_statement(statement: Statement) -> list[object]:
    line = statement.line
    fields = [line.kind, line.text, line.exchange, line.role, line.at, line.session]
    return [*fields, statement.evidence[-_EVIDENCE:], sorted(statement.sessions)[-_EVIDENCE:]]


def _load_statements(content: str) -> StatementSet:
    return StatementSet(_build_statement(*fields) for fields in versions.load_sources(content)["statements"])


def _build_statement(
    kind: str, text: str, exchange: int, role: str, at: int, session: str, evidence: list[int], sessions: list[str]
) -> Statement:  # fmt: skip
    statement = Statement(Quote(kind=kind, text=text, exchange=exchange, role=role, at=at, session=session))
    statement.evidence, statement.sessions = evidence, set(sessions)
    return statement
