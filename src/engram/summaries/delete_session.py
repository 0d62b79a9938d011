"""Delete a session: its messages, its captured events, and what was derived from them."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from glob import escape, glob
from typing import TYPE_CHECKING

from engram.errors import InvalidInput
from engram.hub import Hub
from engram.index.maintenance import update_index
from engram.platform.value import value
from engram.sessions import lifecycle
from engram.settings import is_url
from engram.store import (
    blobs,
    captures,
    cases,
    documents,
    dream_inbox,
    event_words,
    events,
    exchanges,
    messages,
    model_calls,
    passages,
)
from engram.store import sessions as session_store
from engram.summaries.deletion_cleanup import DeletionEffects, find_mentions, remove_from_documents
from engram.summaries.deletion_report import DeletionReport
from engram.summaries.distinctive_words import DistinctiveWords
from engram.summaries.eras import run_integration
from engram.summaries.versions import GIST
from engram.types import Session

if TYPE_CHECKING:
    from collections.abc import Iterable


def find_session_family(hub: Hub, session: str) -> list[Session]:
    """Return a session that may be deleted, and its subagents, which are deleted with it."""
    root = lifecycle.get_session(hub, session)
    if root.presence == "here" and root.status == "active":
        raise InvalidInput(
            field="session", reason="The session is still active. Complete it first with `engram complete`."
        )
    return [root, *_find_subagents(hub, root)]


def delete_sessions(hub: Hub, family: list[Session], *, dry_run: bool = False) -> DeletionReport:
    """Permanently delete sessions from the store, and rebuild what was derived from them."""
    distinctive = DistinctiveWords(hub, [item.id for item in family])
    removals: list[_RemovedSession] = []
    with suppress(_DeletionDryRun), hub.engine.transaction(durable=True):
        session_store.lock_rows(hub.engine, [item.id for item in family])
        removals += [_remove_session(hub, item, distinctive) for item in family]
        cases.scrub_words(hub.engine)
        model_calls.delete_replies(hub.engine)
        dream_inbox.mark_new(hub.engine, dream_inbox.SCRUB, ["index"], hub.now())
        changed = [item.project for item in family if item.project]
        dream_inbox.mark_new(hub.engine, dream_inbox.COMPILE, changed, hub.now())
        blobs.recount_kept_bytes(hub.engine)
        mentions = find_mentions(hub, distinctive, {item for removal in removals for item in removal.marked.kept})
        if dry_run:
            raise _DeletionDryRun
    report = DeletionReport(
        sessions=tuple(item.id for item in family),
        **sum((item.counts for item in removals), Counter()),
        remade=_unique_names(name for item in removals for name in item.marked.remade),
        changed=_unique_names(name for item in removals for name in item.marked.changed),
        mentions=mentions,
        copies=_find_store_copies(hub),
        dry_run=dry_run,
    )
    if not dry_run:
        _finish_deletion(hub, report, [name for item in removals for name in item.bodies])
    return report


class _DeletionDryRun(Exception):
    """Raised at the end of a dry run to roll everything back."""


def _finish_deletion(hub: Hub, report: DeletionReport, bodies: list[str]) -> None:
    """Delete what is outside the transaction, and rebuild summaries from what is left."""
    _remove_bodies(hub, bodies)
    update_index(hub, embed=False)
    if report.remade:
        run_integration(hub, think=False, only=report.remade)
    session_store.truncate_wal(hub.engine)


def _unique_names(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


@value
class _RemovedSession:
    """What was deleted with one session."""

    counts: Counter[str]
    bodies: tuple[str, ...]
    marked: DeletionEffects


def _remove_session(hub: Hub, session: Session, distinctive: DistinctiveWords) -> _RemovedSession:
    """Delete a session from every table, and record that it must not be ingested again."""
    capture = captures.find_by_session(hub.engine, session.id)
    rows = events.list_by_capture(hub.engine, capture["num"]) if capture else []
    event_words.unindex_events(hub.engine, [row["id"] for row in rows])
    if capture:
        cases.drop_words_of_capture(hub.engine, capture["num"])
    if session.native_id:
        session_store.mark_deleted(hub.engine, session.flavor, session.native_id, hub.now())
    counts = _delete_and_count(hub, session, len(rows))
    passages.unindex_session(hub.engine, session.id)
    marked = remove_from_documents(hub, session.id, distinctive)
    session_store.delete(hub.engine, session.id)
    return _RemovedSession(counts=counts, bodies=tuple({row["sha256"] for row in rows}), marked=marked)


def _delete_and_count(hub: Hub, session: Session, event_count: int) -> Counter[str]:
    """Delete the messages of a session, and count them with everything that depends on them."""
    return Counter(
        exchanges=len(exchanges.delete_by_session(hub.engine, session.id)), events=event_count,
        completions=int(bool(session.completion_summary)),
        gists=int(documents.get_current(hub.engine, GIST, session.id) is not None),
        sent=messages.delete_sent(hub.engine, session.id), **session_store.count_attached(hub.engine, session.id),
    )  # fmt: skip


def _find_store_copies(hub: Hub) -> tuple[str, ...]:
    """Return the backups made before schema upgrades: they still contain deleted sessions."""
    return () if is_url(hub.settings.store) else tuple(sorted(glob(f"{escape(hub.settings.store)}.before-*")))


def _find_subagents(hub: Hub, session: Session) -> list[Session]:
    rows = captures.list_captured(hub.engine, 10_000, parent=session.native_id or "", flavor=session.flavor)
    children = [lifecycle.to_session(hub, row) for row in rows if row["relation"] == "subagent"]
    return [descendant for child in children for descendant in (child, *_find_subagents(hub, child))]


def _remove_bodies(hub: Hub, names: list[str]) -> None:
    """Delete bodies no other session shares; `check` removes any that a crash leaves behind."""
    bodies = blobs.BlobStore(hub.engine, hub.settings)
    for name in names:
        if not blobs.is_needed(hub.engine, name):
            bodies.remove(name)
