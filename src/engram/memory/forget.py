"""Delete a session on a person's word: what was said, what was captured, and what was made of it."""

from __future__ import annotations

from contextlib import suppress
from glob import escape, glob
from typing import TYPE_CHECKING

from engram.coordination import sessions
from engram.errors import InvalidInput
from engram.hub import Hub
from engram.index.index import bring_up_to_date
from engram.memory.eras import integrated
from engram.memory.stale import Marked, mark_deleted, still_mentioned
from engram.memory.traces import Traces
from engram.model import Deleted, Session
from engram.settings import is_url
from engram.store import blobs, captures, event_words, events, exchanges, ledger, news, passages
from engram.store import sessions as session_store
from engram.value import value

if TYPE_CHECKING:
    from collections.abc import Iterable


def family_of(hub: Hub, session: str) -> list[Session]:
    """Return a session that may be deleted, and its subagents, which go with it."""
    found = sessions.get_session(hub, session)
    if found.presence == "here" and found.status == "active":
        raise InvalidInput(field="session", reason="it is at work. Complete it first: `engram complete`.")
    return [found, *_subagents(hub, found)]


def delete(hub: Hub, family: list[Session], *, dry_run: bool = False) -> Deleted:
    """Delete sessions from the store for good, and make again without them what was made of them."""
    traces = Traces(hub, [each.id for each in family])
    gone: list[_Gone] = []
    with suppress(_OnlyLooking), hub.engine.transaction(durable=True):
        session_store.hold(hub.engine, [each.id for each in family])
        gone += [_gone(hub, each, traces) for each in family]
        ledger.hush(hub.engine)
        news.note(hub.engine, news.SCRUB, ["index"], hub.now())
        blobs.recount(hub.engine)
        mentions = still_mentioned(hub, traces)
        if dry_run:
            raise _OnlyLooking
    found = Deleted(
        sessions=tuple(each.id for each in family), exchanges=sum(each.said for each in gone),
        events=sum(each.seen for each in gone), remade=_once(name for each in gone for name in each.marked.remade),
        changed=_once(name for each in gone for name in each.marked.changed), mentions=mentions, copies=_copies(hub),
        dry_run=dry_run,
    )  # fmt: skip
    if not dry_run:
        _finish(hub, found, [name for each in gone for name in each.bodies])
    return found


class _OnlyLooking(Exception):
    """A dry run has seen what it wanted; all of it is rolled back."""


def _finish(hub: Hub, found: Deleted, bodies: list[str]) -> None:
    """Remove what lies outside of the transaction, and make again what went and can be made of what is left."""
    _remove(hub, bodies)
    bring_up_to_date(hub, embed=False)
    if found.remade:
        integrated(hub, think=False, only=found.remade)
    session_store.sink(hub.engine)


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


@value
class _Gone:
    """What went with one session."""

    said: int
    seen: int
    bodies: tuple[str, ...]
    marked: Marked


def _gone(hub: Hub, session: Session, traces: Traces) -> _Gone:
    """Take a session out of every table, and note that it is not to be taken in again."""
    capture = captures.of_session(hub.engine, session.id)
    rows = events.of_capture(hub.engine, capture["num"]) if capture else []
    event_words.drop(hub.engine, [row["id"] for row in rows])
    if session.native_id:
        session_store.note_deleted(hub.engine, session.flavor, session.native_id, hub.now())
    said = len(exchanges.delete(hub.engine, session.id))
    passages.leave(hub.engine, session.id)
    marked = mark_deleted(hub, session.id, traces)
    session_store.delete(hub.engine, session.id)
    return _Gone(said=said, seen=len(rows), bodies=tuple({row["sha256"] for row in rows}), marked=marked)


def _copies(hub: Hub) -> tuple[str, ...]:
    """Return the copies made before the store's schema changed: they hold what was deleted since."""
    return () if is_url(hub.settings.store) else tuple(sorted(glob(f"{escape(hub.settings.store)}.before-*")))


def _subagents(hub: Hub, session: Session) -> list[Session]:
    rows = captures.listed(hub.engine, 10_000, parent=session.native_id or "", flavor=session.flavor)
    found = [sessions.view(hub, row) for row in rows if row["relation"] == "subagent"]
    return [each for child in found for each in (child, *_subagents(hub, child))]


def _remove(hub: Hub, names: list[str]) -> None:
    """Remove bodies no other session shares; one that a crash leaves behind is a leftover `check` removes."""
    bodies = blobs.Blobs(hub.engine, hub.settings)
    for each in names:
        if not blobs.still_named(hub.engine, each):
            bodies.remove(each)
