"""The journal: every pass that did something, readable later."""

from __future__ import annotations

import os
from typing import Any

from engram import host
from engram.clock import moment
from engram.dream.done import Done, Pass
from engram.dream.drives import Drive
from engram.hub import Hub
from engram.model import Rot
from engram.store import passes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Row


def newest(hub: Hub, limit: int) -> list[Pass]:
    """Return passes, newest first."""
    return [_view(hub, row) for row in passes.newest(hub.engine, limit)]


def begin(hub: Hub, why: str, drives: dict[str, Drive]) -> int:
    """Write down that a pass begins; it holds the lease, so what never ended has died."""
    with hub.engine.transaction():
        return passes.begin(
            hub.engine, now=hub.now(), host=host.name(), pid=os.getpid(), why=why, drives=_dumped(_plain(drives))
        )  # fmt: skip


def end(hub: Hub, pass_id: int, ended: Pass) -> None:
    """Write down what a pass came to."""
    told = {name: getattr(ended, name) for name in ("seconds", "calls", "tokens", "cost", "budget")}
    told |= {
        "drives": _plain(ended.drives), "steps": [vars(each) for each in ended.steps],
        "rot": vars(ended.rot) if ended.rot else None,
    }  # fmt: skip
    with hub.engine.transaction(durable=True):
        passes.end(hub.engine, pass_id, hub.now(), _dumped(told))


def drop(hub: Hub, pass_id: int) -> None:
    """Forget a pass that did nothing."""
    with hub.engine.transaction():
        passes.drop(hub.engine, pass_id)


def _view(hub: Hub, row: Row) -> Pass:
    told = _loaded(row["readout"])
    before = _drives(_loaded(row["drives"]))
    return Pass(
        id=row["id"], began_at=moment(row["began_at"]), why=row["why"], host=row["host"], pid=row["pid"], before=before,
        ended_at=None if row["ended_at"] is None else moment(row["ended_at"]), drives=_drives(told.get("drives", {})),
        steps=tuple(Done(**each) for each in told.get("steps", ())), seconds=told.get("seconds", 0.0),
        calls=told.get("calls", 0), tokens=told.get("tokens", 0), cost=told.get("cost", 0.0),
        budget=told.get("budget", ""), changes=passes.counts(hub.engine, row["id"]),
        rot=Rot(**told["rot"]) if told.get("rot") else None,
        undone_at=None if row["undone_at"] is None else moment(row["undone_at"]),
    )  # fmt: skip


def _plain(drives: dict[str, Drive]) -> dict[str, Any]:
    return {name: vars(each) for name, each in drives.items()}


def _drives(held: dict[str, Any]) -> dict[str, Drive]:
    return {name: Drive(**each) for name, each in held.items()}


def _dumped(facts: dict[str, Any]) -> str:
    import orjson

    return orjson.dumps(facts).decode()


def _loaded(text: str | None) -> dict[str, Any]:
    import orjson

    return dict(orjson.loads(text)) if text else {}
