"""The journal: every pass that did something."""

from __future__ import annotations

import os
from typing import Any

from engram.clock import to_datetime
from engram.dream.priorities import Drive
from engram.dream.results import Pass, StepResult
from engram.hub import Hub
from engram.platform import host
from engram.store import dream_passes
from engram.types import Rot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Row


def list_passes(hub: Hub, limit: int) -> list[Pass]:
    """Return passes, newest first."""
    return [_pass_from_row(hub, row) for row in dream_passes.list_newest(hub.engine, limit)]


def begin_pass(hub: Hub, why: str, drives: dict[str, Drive]) -> int:
    """Record the start of a pass; since it holds the lease, an unfinished earlier one has died."""
    with hub.engine.transaction():
        return dream_passes.begin_pass(
            hub.engine,
            now=hub.now(),
            host=host.get_host_name(),
            pid=os.getpid(),
            why=why,
            drives=_dump_json(_drives_to_dicts(drives)),
        )


def end_pass(hub: Hub, pass_id: int, finished: Pass) -> None:
    """Record the result of a pass."""
    readout = {name: getattr(finished, name) for name in ("seconds", "calls", "tokens", "cost", "budget")}
    readout |= {
        "drives": _drives_to_dicts(finished.drives), "steps": [vars(step) for step in finished.steps],
        "rot": vars(finished.rot) if finished.rot else None,
    }  # fmt: skip
    with hub.engine.transaction(durable=True):
        dream_passes.end_pass(hub.engine, pass_id, hub.now(), _dump_json(readout))


def delete_pass(hub: Hub, pass_id: int) -> None:
    """Delete a pass that did nothing."""
    with hub.engine.transaction():
        dream_passes.delete(hub.engine, pass_id)


def _pass_from_row(hub: Hub, row: Row) -> Pass:
    readout = _load_json(row["readout"])
    before = _drives_from_dicts(_load_json(row["drives"]))
    return Pass(
        id=row["id"],
        began_at=to_datetime(row["began_at"]),
        why=row["why"],
        host=row["host"],
        pid=row["pid"],
        before=before,
        ended_at=None if row["ended_at"] is None else to_datetime(row["ended_at"]),
        drives=_drives_from_dicts(readout.get("drives", {})),
        steps=tuple(StepResult(**step) for step in readout.get("steps", ())),
        seconds=readout.get("seconds", 0.0),
        calls=readout.get("calls", 0),
        tokens=readout.get("tokens", 0),
        cost=readout.get("cost", 0.0),
        budget=readout.get("budget", ""),
        changes=dream_passes.count_changes(hub.engine, row["id"]),
        rot=Rot(**readout["rot"]) if readout.get("rot") else None,
        undone_at=None if row["undone_at"] is None else to_datetime(row["undone_at"]),
    )


def _drives_to_dicts(drives: dict[str, Drive]) -> dict[str, Any]:
    return {name: vars(drive) for name, drive in drives.items()}


def _drives_from_dicts(dicts: dict[str, Any]) -> dict[str, Drive]:
    return {name: Drive(**fields) for name, fields in dicts.items()}


def _dump_json(facts: dict[str, Any]) -> str:
    import orjson

    return orjson.dumps(facts).decode()


def _load_json(text: str | None) -> dict[str, Any]:
    import orjson

    return dict(orjson.loads(text)) if text else {}
