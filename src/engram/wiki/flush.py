"""Flush: what is new in a conversation becomes an entry of the day's log.

The mark of a session moves together with the entry, in one transaction, before any file is touched; the file gets what
it lacks afterwards. So a crash at any point repeats nothing and loses nothing, and of two flushes at once one finds
nothing to do. What could not be made stays where it is and is tried again.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Annotated, Any

from engram.capture.spool import Request
from engram.clock import MINUTE, SECOND
from engram.coordination import sessions
from engram.errors import BodyGone, Error, ModelInvalid, ModelUnavailable, StoreDamaged
from engram.hub import Hub
from engram.memory import attribution
from engram.operation import Help, operation
from engram.store import captures, entries
from engram.store import events as event_store
from engram.store import sessions as session_store
from engram.text import name_or_none, reason
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from engram.memory.thinker import Thinker
    from engram.store.engine import Row

_PIECE = 40_000  # characters of a conversation a model is shown at once
_OF_ONE = 4_000  # characters of one exchange of it
_LONGEST = 600 * SECOND  # of one pass
_MANY = 100  # sessions of a pass nobody waits for
_STOP = "stop"  # a turn has ended, nothing else
_PAUSES = (1, 5, 30)  # minutes after a failure that may heal; then quotes have to do
_RECENT = 7 * 24 * 60 * MINUTE  # what is older is not worth a model's time


@value
class Flushed:
    """What a flush came to."""

    entries: tuple[str, ...]  # by id
    days: tuple[str, ...]  # whose logs were written
    empty: int  # sessions whose news were not worth an entry
    failed: dict[str, str]  # sessions that are tried again, and why
    by: dict[str, int]  # entries by what made them
    left: int = 0  # sessions beyond the limit


@operation(writes=True)
def flush(
    hub: Hub,
    session: Annotated[str | None, Help("only this one, or the beginning of its id; else all that have news")] = None,
    limit: Annotated[int, Help("at most so many sessions, those that spoke last")] = 1000,
) -> Flushed:
    """Write what is new in conversations into the daily logs."""
    chosen = name_or_none("session", session)
    one = sessions.get_session(hub, chosen).id if chosen else None
    most = sessions.positive("limit", limit)
    due = entries.due(hub.engine, hub.now() if one is None else 1 << 62, one)
    made = flush_these(hub, due[-most:])
    return Flushed(**{**vars(made), "left": made.left + max(0, len(due) - most)})


def flush_these(hub: Hub, due: list[Row], stop: Callable[[], bool] = lambda: False) -> Flushed:
    """Flush sessions that are due, until somebody says to stop."""
    from engram.memory.thinker import Thinker

    made = _Pass(hub, Thinker(hub), stop)
    for row in due:
        made.take(row)
    return made.told(0)


def flush_asked(hub: Hub, requests: list[Request]) -> Flushed:
    """Flush the sessions that have ended, and those whose agent is about to compact what was said."""
    more = [each for each in requests if each.event != _STOP]
    told = (session_store.by_native_id(hub.engine, each.flavor, each.native_id) for each in more)
    named = {row["id"] for row in told if row}
    due = entries.due(hub.engine, hub.now())
    chosen = [each for each in due if each["session_id"] in named or each["status"] == "completed"]
    return flush_these(hub, chosen[-_MANY:])


class _Pass:
    """One pass over sessions; whatever is wrong with one, the others are flushed."""

    def __init__(self, hub: Hub, thinker: Thinker, stop: Callable[[], bool]) -> None:
        self.hub, self.thinker, self.stop = hub, thinker, stop
        self.made: list[str] = []
        self.empty = self.late = 0
        self.failed: dict[str, str] = {}
        self.broken: Error | None = None  # why the model cannot be asked any more in this pass
        self.deadline = hub.clock.steady() + _LONGEST
        self.written: set[str] = set()
        self._write()  # what an earlier pass could not

    def take(self, due: Row) -> None:
        """Flush one session, if there is time left."""
        if self.hub.clock.steady() > self.deadline or self.stop():
            self.late += 1
            return
        try:
            self._flush(due)
        except Exception as problem:
            told = reason(problem)
            self.failed[due["session_id"]] = told
            with self.hub.engine.transaction():
                tries = entries.fail(self.hub.engine, due["session_id"], 0, told)
                pause = _PAUSES[min(tries, len(_PAUSES)) - 1] * MINUTE
                entries.put_off(self.hub.engine, due["session_id"], self.hub.now() + pause)

    def told(self, left: int) -> Flushed:
        """Write what is not written yet, and return what came of the pass."""
        self._write()
        return Flushed(
            entries=tuple(self.made), days=tuple(sorted(self.written)), empty=self.empty, failed=self.failed,
            by=dict(self.thinker.by), left=left + self.late,
        )  # fmt: skip

    def _flush(self, due: Row) -> None:
        from engram.vault.entry import pieces

        hub, session_id, seen = self.hub, due["session_id"], int(due["through"])
        rows = entries.new(hub.engine, session_id, seen)
        size = _PIECE if not self.thinker.off else 1 << 62
        for piece in pieces(rows, size):
            last = int(piece[-1]["id"])
            content, made_by = self._content(session_id, seen, piece)
            if not self._keep(session_id, seen, last, piece, content, made_by):
                return  # somebody else flushed it meanwhile
            seen = last
        with hub.engine.transaction():
            entries.settle(hub.engine, due)
        if not self.thinker.off:
            self._write()  # a model takes its time; quotes are written together, in the order they were said

    def _keep(
        self, session_id: str, seen: int, last: int, piece: list[Any], content: str, made_by: str
    ) -> bool:  # fmt: skip
        """Move the mark and keep the entry, both or neither."""
        from engram.vault.daily_log import day_of

        hub, at = self.hub, max(int(row["at"]) for row in piece)
        first = int(piece[0]["id"])
        number = blake2b(f"{session_id} {first} {last}".encode(), digest_size=8).hexdigest()
        with hub.engine.transaction(durable=True):
            if not entries.move(hub.engine, session_id, seen, last):
                return False
            if content:
                entries.add(
                    hub.engine, id=number, session_id=session_id, day=day_of(at, hub.settings.timezone), at=at,
                    first=first, last=last, content=content, made_by=made_by,
                )  # fmt: skip
                attribution.note(hub, "entry", number)
        if content:
            self.made.append(number)
            self.thinker.made(made_by)
        else:
            self.empty += 1
        return True

    def _content(self, session_id: str, seen: int, piece: list[Any]) -> tuple[str, str]:
        """Return what an entry says and who made it; nothing where nothing is worth it."""
        from engram.vault import entry

        facts = _facts(self.hub, session_id, seen, piece)
        if not entry.worth_it(piece, facts):
            return "", ""
        if self.hub.now() - int(piece[-1]["at"]) < _RECENT:
            self._put_off(session_id)  # it may have failed for another session just now
            said = self._thought(session_id, piece) if not self.thinker.off else None
            if said is not None:
                return said
        return entry.extracted(piece, facts), "extract"

    def _thought(self, session_id: str, piece: list[Any]) -> tuple[str, str] | None:
        """Return what the model makes of it; None where quotes have to do; raise where trying later may help."""
        from engram.vault import entry

        lists = ("exchanges", "decisions", "lessons", "actions")
        found = self.thinker.ask("flush", entry.quoted(piece, _OF_ONE), "context", lists, verdict=True)
        if found is not None:
            return ("", "") if found.data["verdict"] == "nothing" else (entry.thought(found.data), found.made_by)
        problem = self.thinker.problem
        self.broken = problem if isinstance(problem, (ModelUnavailable, ModelInvalid)) else None
        self._put_off(session_id)
        return None

    def _put_off(self, session_id: str) -> None:
        """Try a session again later if the model fails, unless that was in vain too often: then quotes have to do."""
        if self.broken is not None and entries.tries(self.hub.engine, session_id) < len(_PAUSES):
            raise self.broken

    def _write(self) -> None:
        """Let the logs hold every entry that they do not hold yet."""
        from itertools import groupby

        from engram.vault import daily_log, sync, vault

        place = vault.of(self.hub)
        waiting = sorted(entries.unwritten(self.hub.engine), key=lambda row: (row["day"], row["at"], row["id"]))
        if not waiting:
            return
        for day, rows in groupby(waiting, key=lambda row: row["day"]):
            held = daily_log.append(place, list(rows), self.hub.settings.timezone)
            with self.hub.engine.transaction(durable=True):
                for each in held:
                    entries.mark_written(self.hub.engine, each, self.hub.now())
            self.written.add(day)
        sync.written(self.hub, place, sorted({row["day"] for row in waiting}))


def _facts(hub: Hub, session_id: str, seen: int, piece: list[Any]) -> dict[str, Any]:
    """Return what was done between two marks, by the events captured there; nothing where they are gone."""
    from engram.digests.bodies import Bodies
    from engram.digests.fold import Fold

    capture = captures.of_session(hub.engine, session_id)
    through = [int(row["event"]) for row in piece if row["event"] is not None]
    if capture is None or not through:
        return {}
    after = entries.event_of(hub.engine, session_id, seen)
    fold, bodies = Fold(), Bodies(hub)
    fold.locate(sessions.require(hub, session_id)["cwd"])
    try:
        for row in event_store.between(hub.engine, capture["num"], after, max(through)):
            fold.feed(bodies.event(row))
    except (BodyGone, StoreDamaged):
        return {}
    return fold.facts()
