"""Flush: write what is new in conversations to the day's log.

The cursor of a session moves together with the entry, in one transaction, before any file is touched; the file is
updated afterwards. So a crash at any point repeats nothing and loses nothing, and of two concurrent flushes one finds
nothing to do. Failed sessions stay and are retried.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Annotated, Any

from engram.capture.spool import CaptureRequest
from engram.clock import MINUTE, SECOND
from engram.errors import BodyGone, Error, ModelInvalid, ModelUnavailable, StoreDamaged
from engram.hub import Hub
from engram.operation import Help, operation
from engram.platform.text import format_error, validate_optional_name
from engram.platform.value import value
from engram.sessions import lifecycle
from engram.store import captures, events
from engram.store import log_entries as entries
from engram.store import sessions as session_store
from engram.summaries import attribution

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from engram.store.engine import Row
    from engram.summaries.summary_model import SummaryModel

_PIECE_CHARS = 40_000  # characters of a conversation per model call
_EXCHANGE_CHARS = 4_000  # characters of one exchange in it
_MAX_PASS_TIME = 600 * SECOND  # time of one pass
_MAX_SESSIONS = 100  # sessions per background pass
_STOP = "stop"  # reason: a turn ended, nothing else
_RETRY_PAUSES = (1, 5, 30)  # minutes between retries after a temporary failure; then quotes are used
_RECENT = 7 * 24 * 60 * MINUTE  # older conversations get no model call


@value
class FlushResult:
    """The result of a flush."""

    entries: tuple[str, ...]  # entry ids
    days: tuple[str, ...]  # days whose logs were written
    empty: int  # sessions with nothing worth logging
    failed: dict[str, str]  # sessions that will be retried, and why
    by: dict[str, int]  # number of entries by their maker
    left: int = 0  # sessions beyond the limit


@operation(writes=True)
def flush(
    hub: Hub,
    session: Annotated[
        str | None, Help("only this session, by id or prefix; defaults to all with new messages")
    ] = None,
    limit: Annotated[int, Help("maximum number of sessions, the most recent first")] = 1000,
) -> FlushResult:
    """Write what is new in conversations to the daily logs."""
    chosen = validate_optional_name("session", session)
    session_id = lifecycle.get_session(hub, chosen).id if chosen else None
    max_sessions = lifecycle.require_positive("limit", limit)
    due_rows = entries.list_due_sessions(hub.engine, hub.now() if session_id is None else 1 << 62, session_id)
    result = flush_sessions(hub, due_rows[-max_sessions:])
    return FlushResult(**{**vars(result), "left": result.left + max(0, len(due_rows) - max_sessions)})


def flush_sessions(hub: Hub, due_rows: list[Row], stop: Callable[[], bool] = lambda: False) -> FlushResult:
    """Flush sessions that are due until `stop` returns true."""
    from engram.summaries.summary_model import SummaryModel

    flush_pass = _FlushPass(hub, SummaryModel(hub), stop)
    for row in due_rows:
        flush_pass.flush_session(row)
    return flush_pass.finish(0)


def flush_requested(hub: Hub, requests: list[CaptureRequest]) -> FlushResult:
    """Flush sessions that have ended, and those about to be compacted."""
    flush_requests = [item for item in requests if item.event != _STOP]
    session_rows = (session_store.find_by_native_id(hub.engine, item.flavor, item.native_id) for item in flush_requests)
    session_ids = {row["id"] for row in session_rows if row}
    due_rows = entries.list_due_sessions(hub.engine, hub.now())
    chosen = [item for item in due_rows if item["session_id"] in session_ids or item["status"] == "completed"]
    return flush_sessions(hub, chosen[-_MAX_SESSIONS:])


class _FlushPass:
    """One pass over sessions; a failing session does not stop the others."""

    def __init__(self, hub: Hub, thinker: SummaryModel, stop: Callable[[], bool]) -> None:
        self.hub, self.thinker, self.stop = hub, thinker, stop
        self.entry_ids: list[str] = []
        self.empty = self.skipped = 0
        self.failed: dict[str, str] = {}
        self.model_error: Error | None = None  # why the model cannot be called any more in this pass
        self.deadline = hub.clock.steady() + _MAX_PASS_TIME
        self.written_days: set[str] = set()
        self._write_logs()  # entries an earlier pass could not write

    def flush_session(self, due: Row) -> None:
        """Flush one session, if there is time left."""
        if self.hub.clock.steady() > self.deadline or self.stop():
            self.skipped += 1
            return
        try:
            self._flush_new_exchanges(due)
        except Exception as problem:
            problem_text = format_error(problem)
            self.failed[due["session_id"]] = problem_text
            with self.hub.engine.transaction():
                tries = entries.record_failure(self.hub.engine, due["session_id"], 0, problem_text)
                pause = _RETRY_PAUSES[min(tries, len(_RETRY_PAUSES)) - 1] * MINUTE
                entries.set_next_try(self.hub.engine, due["session_id"], self.hub.now() + pause)

    def finish(self, left: int) -> FlushResult:
        """Write the remaining entries and return the result of the pass."""
        self._write_logs()
        return FlushResult(
            entries=tuple(self.entry_ids), days=tuple(sorted(self.written_days)), empty=self.empty, failed=self.failed,
            by=dict(self.thinker.by), left=left + self.skipped,
        )  # fmt: skip

    def _flush_new_exchanges(self, due: Row) -> None:
        from engram.wiki.vault.log_entry import split_conversation

        hub, session_id, flushed_through = self.hub, due["session_id"], int(due["through"])
        rows = entries.list_new_exchanges(hub.engine, session_id, flushed_through)
        size = _PIECE_CHARS if not self.thinker.off else 1 << 62
        for piece in split_conversation(rows, size):
            last = int(piece[-1]["id"])
            content, made_by = self._compose_entry(session_id, flushed_through, piece)
            if not self._save_entry(session_id, flushed_through, last, piece, content, made_by):
                return  # another process flushed it meanwhile
            flushed_through = last
        with hub.engine.transaction():
            entries.mark_flushed(hub.engine, due)
        if not self.thinker.off:
            self._write_logs()  # write after each model call, which is slow; quotes are written together, in order

    def _save_entry(
        self, session_id: str, flushed_through: int, last: int, piece: list[Any], content: str, made_by: str
    ) -> bool:  # fmt: skip
        """Move the cursor and save the entry in one transaction."""
        from engram.wiki.vault.daily_log import local_day

        hub, at = self.hub, max(int(row["at"]) for row in piece)
        first = int(piece[0]["id"])
        entry_id = blake2b(f"{session_id} {first} {last}".encode(), digest_size=8).hexdigest()
        with hub.engine.transaction(durable=True):
            if not entries.advance_mark(hub.engine, session_id, flushed_through, last):
                return False
            if content:
                entries.insert(
                    hub.engine, id=entry_id, session_id=session_id, day=local_day(at, hub.settings.timezone), at=at,
                    first=first, last=last, content=content, made_by=made_by,
                )  # fmt: skip
                attribution.record_change(hub, "entry", entry_id)
        if content:
            self.entry_ids.append(entry_id)
            self.thinker.count_made(made_by)
        else:
            self.empty += 1
        return True

    def _compose_entry(self, session_id: str, flushed_through: int, piece: list[Any]) -> tuple[str, str]:
        """Return the text of an entry and its maker; empty if nothing is worth logging."""
        from engram.wiki.vault import log_entry

        facts = _collect_facts(self.hub, session_id, flushed_through, piece)
        if not log_entry.is_worth_logging(piece, facts):
            return "", ""
        if self.hub.now() - int(piece[-1]["at"]) < _RECENT:
            self._raise_if_retryable(session_id)  # the model may just have failed for another session
            model_entry = self._ask_model(session_id, piece) if not self.thinker.off else None
            if model_entry is not None:
                return model_entry
        return log_entry.extract_entry(piece, facts), "extract"

    def _ask_model(self, session_id: str, piece: list[Any]) -> tuple[str, str] | None:
        """Return the model's entry; None to fall back to quotes; raise an error if a retry may help."""
        from engram.wiki.vault import log_entry

        lists = ("exchanges", "decisions", "lessons", "actions")
        thought = self.thinker.ask(
            "flush", log_entry.format_conversation(piece, _EXCHANGE_CHARS), "context", lists, verdict=True
        )
        if thought is not None:
            return (
                ("", "")
                if thought.data["verdict"] == "nothing"
                else (log_entry.format_model_entry(thought.data), thought.made_by)
            )
        problem = self.thinker.problem
        self.model_error = problem if isinstance(problem, (ModelUnavailable, ModelInvalid)) else None
        self._raise_if_retryable(session_id)
        return None

    def _raise_if_retryable(self, session_id: str) -> None:
        """Raise an error to retry later, unless the session failed too often: then fall back to quotes."""
        if self.model_error is not None and entries.count_tries(self.hub.engine, session_id) < len(_RETRY_PAUSES):
            raise self.model_error

    def _write_logs(self) -> None:
        """Write every entry that the logs lack."""
        from itertools import groupby

        from engram.wiki.vault import daily_log, sync, vault

        wiki = vault.open_vault(self.hub)
        waiting = sorted(entries.list_unwritten(self.hub.engine), key=lambda row: (row["day"], row["at"], row["id"]))
        if not waiting:
            return
        for day, rows in groupby(waiting, key=lambda row: row["day"]):
            entry_ids = daily_log.append_entries(wiki, list(rows), self.hub.settings.timezone)
            with self.hub.engine.transaction(durable=True):
                for entry_id in entry_ids:
                    entries.mark_written(self.hub.engine, entry_id, self.hub.now())
            self.written_days.add(day)
        sync.index_logs(self.hub, wiki, sorted({row["day"] for row in waiting}))


def _collect_facts(hub: Hub, session_id: str, flushed_through: int, piece: list[Any]) -> dict[str, Any]:
    """Return the facts captured between two cursors; empty if the events are gone."""
    from engram.capture.digests.event_bodies import EventBodies
    from engram.capture.digests.fold import Fold

    capture = captures.find_by_session(hub.engine, session_id)
    through = [int(row["event"]) for row in piece if row["event"] is not None]
    if capture is None or not through:
        return {}
    after = entries.find_last_event(hub.engine, session_id, flushed_through)
    fold, bodies = Fold(), EventBodies(hub)
    fold.set_cwd(lifecycle.require_session(hub, session_id)["cwd"])
    try:
        for row in events.list_between(hub.engine, capture["num"], after, max(through)):
            fold.add_event(bodies.load_event(row))
    except (BodyGone, StoreDamaged):
        return {}
    return fold.build_facts()
