"""The vault as it is searched: what people wrote, changed or removed there, and the daily logs.

A log is looked at again only when its file changed; what is remembered of it counts only as long as the store holds the
log, so a new store finds everything.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

from engram.capture.guides import parts
from engram.clock import HOUR
from engram.errors import InvalidInput, StoreBusy, StoreFull, StoreReadOnly
from engram.hub import Hub
from engram.redaction.redactor import Redactor
from engram.redaction.removal import redactor
from engram.store import entries, passages, sessions
from engram.text import PAGE, clean
from engram.vault import daily_log, findable, gate, state
from engram.vault.vault import Vault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Row

KIND = "daily"
_SEEN = "searched.json"


def sync(hub: Hub, vault: Vault) -> int:
    """Let pages be found as they stand now; return how many had changed. Where nothing can be written, later."""
    with suppress(StoreFull, StoreBusy, StoreReadOnly):
        changed, _ = findable.refresh(hub, vault)
        return changed + logs(hub, vault)
    return 0


def written(hub: Hub, vault: Vault, days: list[str]) -> None:
    """Let daily logs be found that we just wrote, without a look at all the others."""
    with vault.alone("search"):
        clean_of = redactor(hub)
        for day in days:
            target = f"daily/{day}"
            _put(hub, vault, target, passages.keys(hub.engine, KIND, target), clean_of)
        stamps = {f"daily/{day}": gate.stamp(vault, day) for day in days}
        state.write(vault, _SEEN, {"logs": {**state.read(vault, _SEEN).get("logs", {}), **stamps}})


def logs(hub: Hub, vault: Vault) -> int:
    """Let the daily logs be found that changed since the last time."""
    if not os.path.isdir(vault.root):
        return 0
    with vault.alone("search"):
        held: dict[str, list[str]] = {}
        for key in passages.known(hub.engine, KIND):
            held.setdefault(key.partition("#")[0], []).append(key)
        before = state.read(vault, _SEEN).get("logs", {})
        seen = dict(_stamps(vault))
        changed = [each for each, stamp in seen.items() if each not in held.get(each, ()) or before.get(each) != stamp]
        gone = held.keys() - seen.keys()
        clean_of = redactor(hub) if changed else None
        for target in changed:
            _put(hub, vault, target, held.get(target, []), clean_of)
        for key in [key for target in gone for key in held[target]]:
            passages.drop(hub.engine, KIND, key)
        if changed or gone:
            state.write(vault, _SEEN, {"logs": seen})
    return len(changed) + len(gone)


def _stamps(vault: Vault) -> Iterator[tuple[str, list[int]]]:
    known = gate.stamps(vault)
    for target in vault.pages("daily"):
        name = target.partition("/")[2]
        with suppress(OSError, InvalidInput):  # gone meanwhile, or a name that is none of ours
            yield target, known.get(name) or gate.stamp(vault, name)


def _put(hub: Hub, vault: Vault, target: str, held: list[str], clean_of: Redactor | None) -> None:
    """Let one log be found: each entry by itself, with its session, and the rest under the name of the log."""
    day = target.partition("/")[2]
    text = clean("log", (vault.read(target) or "")[: PAGE // 4], PAGE)
    text = clean_of.clean(text) if clean_of else text
    found = {f"{target}#{each.id}": each for each in daily_log.read(text, day) if each.id}
    rows = {row["id"]: row for row in entries.of_day(hub.engine, day[:10])}
    with hub.engine.transaction():
        here = sessions.those_here(hub.engine, sorted({each.session_id for each in found.values()}))
        for key in set(held) - {target, *found}:
            passages.drop(hub.engine, KIND, key)
        passages.put(hub.engine, KIND, target, [f"Daily log {day}", *parts(daily_log.outside(text))], at=_noon(day))
        for key, each in found.items():
            said = [f"{day} {each.title}\n{part}" for part in parts(each.content)]
            row: Row = rows.get(each.id, {})
            passages.put(
                hub.engine, KIND, key, said, at=row.get("at", _noon(day)), project=row.get("project") or each.project,
                session_id=each.session_id if each.session_id in here else None,
            )  # fmt: skip


def _noon(day: str) -> int:
    """Return the middle of a day; of what is none, the beginning of time."""
    from datetime import UTC, datetime

    try:
        start = datetime.fromisoformat(day[:10]).replace(tzinfo=UTC)
    except ValueError:
        return 0
    return round(start.timestamp() * 1_000_000) + 12 * HOUR
