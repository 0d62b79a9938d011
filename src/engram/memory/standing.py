"""What people said of themselves, as it stood at the end of each month.

Each month is folded onto the one before and kept, so that a new day costs what its month holds, however long the past.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engram.memory import extract, gist, versions
from engram.memory.extract import Line
from engram.memory.statements import Held, Statement
from engram.memory.versions import STANDING
from engram.store import documents

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engram.hub import Hub
    from engram.memory.months import Months

_MOST = 400  # statements that are carried on; a profile shows a tenth of them
_EVIDENCE = 50  # exchanges and sessions of one statement


def standing(hub: Hub, months: Months, *, keep: bool = True) -> list[Statement]:
    """Return what holds now, in the order it was last said."""
    wanted = _wanted(months)
    stale = list(wanted)
    held = Held()
    for place, month in reversed(list(enumerate(wanted))):
        row = documents.current(hub.engine, STANDING, month)
        if row and versions.loaded(row["sources"]).get("hash") == wanted[month]:
            held, stale = _read(row["content"]), stale[place + 1 :]
            break
    for month in stale:
        held.hear(_lines(hub, months, month))
        held = _best(held)
        if keep:
            _keep(hub, month, held, wanted[month])
    return held.standing()


def _wanted(months: Months) -> dict[str, str]:
    """Return for each month what tells its sessions, and those of all months before it, from any others."""
    found, before = {}, ""
    for month in sorted(months.touched):
        before = found[month] = versions.fingerprint((before, months.made_of(months.touched[month])["hash"]))
    return found


def _lines(hub: Hub, months: Months, month: str) -> Iterator[Line]:
    for session in months.touched[month]:
        yield from (line for line in gist.lines_of(hub, session)["statements"] if months.of(line.at) == month)


def _best(held: Held) -> Held:
    """Return what is carried on: what tells most, and of that the newest."""
    found = list(held.all())
    ranked = sorted(range(len(found)), key=lambda place: (-found[place].weight, -place))[:_MOST]
    return Held(found[place] for place in sorted(ranked))


def _keep(hub: Hub, month: str, held: Held, wanted: str) -> None:
    """Keep what stands at a month's end, in place of what was kept before: it can be made again at any time."""
    found = list(held.all())
    sources = {"hash": wanted, "sessions": sorted({session for each in found for session in each.sessions})}
    content = versions.dumped({"statements": [_told(each) for each in found]})
    with hub.engine.transaction():
        documents.delete(hub.engine, STANDING, month)
        documents.add(
            hub.engine, STANDING, month, 1, content, extract.RULES, hub.now(), versions.dumped(sources)
        )  # fmt: skip


def _told(each: Statement) -> list[object]:
    line = each.line
    said = [line.kind, line.text, line.exchange, line.role, line.at, line.session]
    return [*said, each.evidence[-_EVIDENCE:], sorted(each.sessions)[-_EVIDENCE:]]


def _read(content: str) -> Held:
    return Held(_statement(*each) for each in versions.loaded(content)["statements"])


def _statement(
    kind: str, text: str, exchange: int, role: str, at: int, session: str, evidence: list[int], sessions: list[str]
) -> Statement:  # fmt: skip
    found = Statement(Line(kind=kind, text=text, exchange=exchange, role=role, at=at, session=session))
    found.evidence, found.sessions = evidence, set(sessions)
    return found
