"""Index the vault for search: pages that people changed, and the daily logs.

A log is read again only if its file changed. Its stamp counts only as long as the store has the log, so a new store
indexes everything.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

from engram.capture.guides import split_guide
from engram.clock import HOUR
from engram.errors import InvalidInput, StoreBusy, StoreFull, StoreReadOnly
from engram.hub import Hub
from engram.platform.text import PAGE, validate_text
from engram.redaction.redactor import Redactor
from engram.redaction.store_redactor import load_hub_redactor
from engram.store import log_entries, passages, sessions
from engram.wiki.vault import article_passages, daily_log, due_logs, state
from engram.wiki.vault.vault import Vault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Row

KIND = "daily"
_STAMPS_FILE = "searched.json"


def sync_pages(hub: Hub, vault: Vault) -> int:
    """Index changed pages; return how many. If the store cannot be written now, a later call does it."""
    with suppress(StoreFull, StoreBusy, StoreReadOnly):
        changed, _ = article_passages.refresh_articles(hub, vault)
        return changed + sync_logs(hub, vault)
    return 0


def index_logs(hub: Hub, vault: Vault, days: list[str]) -> None:
    """Index daily logs we just wrote, without checking all others."""
    with vault.hold_lock("search"):
        clean_of = load_hub_redactor(hub)
        for day in days:
            target = f"daily/{day}"
            _index_log(hub, vault, target, passages.find_keys(hub.engine, KIND, target), clean_of)
        stamps = {f"daily/{day}": due_logs.read_stamp(vault, day) for day in days}
        state.write_file(
            vault, _STAMPS_FILE, {"logs": {**state.read_file(vault, _STAMPS_FILE).get("logs", {}), **stamps}}
        )


def sync_logs(hub: Hub, vault: Vault) -> int:
    """Index the daily logs that changed since the last time."""
    if not os.path.isdir(vault.root):
        return 0
    with vault.hold_lock("search"):
        keys_by_log: dict[str, list[str]] = {}
        for key in passages.list_documents(hub.engine, KIND):
            keys_by_log.setdefault(key.partition("#")[0], []).append(key)
        before = state.read_file(vault, _STAMPS_FILE).get("logs", {})
        stamps_now = dict(_read_stamps(vault))
        changed = [
            log_target
            for log_target, stamp in stamps_now.items()
            if log_target not in keys_by_log.get(log_target, ()) or before.get(log_target) != stamp
        ]
        gone = keys_by_log.keys() - stamps_now.keys()
        clean_of = load_hub_redactor(hub) if changed else None
        for target in changed:
            _index_log(hub, vault, target, keys_by_log.get(target, []), clean_of)
        for key in [key for target in gone for key in keys_by_log[target]]:
            passages.delete(hub.engine, KIND, key)
        if changed or gone:
            state.write_file(vault, _STAMPS_FILE, {"logs": stamps_now})
    return len(changed) + len(gone)


def _read_stamps(vault: Vault) -> Iterator[tuple[str, list[int]]]:
    known_stamps = due_logs.read_stamps(vault)
    for target in vault.iter_pages("daily"):
        name = target.partition("/")[2]
        with suppress(OSError, InvalidInput):  # deleted meanwhile, or not one of our names
            yield target, known_stamps.get(name) or due_logs.read_stamp(vault, name)


def _index_log(hub: Hub, vault: Vault, target: str, old_keys: list[str], clean_of: Redactor | None) -> None:
    """Index one log: each entry with its session, and the rest under the name of the log."""
    day = target.partition("/")[2]
    text = validate_text("log", (vault.read(target) or "")[: PAGE // 4], PAGE)
    text = clean_of.redact(text) if clean_of else text
    entries_by_key = {f"{target}#{entry.id}": entry for entry in daily_log.parse_entries(text, day) if entry.id}
    rows = {row["id"]: row for row in log_entries.list_by_day(hub.engine, day[:10])}
    with hub.engine.transaction():
        present_sessions = sessions.filter_existing(
            hub.engine, sorted({entry.session_id for entry in entries_by_key.values()})
        )
        for key in set(old_keys) - {target, *entries_by_key}:
            passages.delete(hub.engine, KIND, key)
        passages.save_parts(
            hub.engine,
            KIND,
            target,
            [f"Daily log {day}", *split_guide(daily_log.text_outside_entries(text))],
            at=_day_to_noon(day),
        )
        for key, entry in entries_by_key.items():
            entry_passages = [f"{day} {entry.title}\n{part}" for part in split_guide(entry.content)]
            row: Row = rows.get(entry.id, {})
            passages.save_parts(
                hub.engine,
                KIND,
                key,
                entry_passages,
                at=row.get("at", _day_to_noon(day)),
                project=row.get("project") or entry.project,
                session_id=entry.session_id if entry.session_id in present_sessions else None,
            )


def _day_to_noon(day: str) -> int:
    """Return noon of a day; the epoch if it is not a day."""
    from datetime import UTC, datetime

    try:
        start = datetime.fromisoformat(day[:10]).replace(tzinfo=UTC)
    except ValueError:
        return 0
    return round(start.timestamp() * 1_000_000) + 12 * HOUR
