"""The journal: every pass that did something, readable later."""

from __future__ import annotations

import os
from datetime import datetime
from typing import Annotated, Any

from engram import host
from engram.clock import moment
from engram.coordination import sessions
from engram.dream.done import Done
from engram.dream.drives import Drive
from engram.errors import NotFound
from engram.hub import Hub
from engram.model import Rot
from engram.operation import Help, operation
from engram.store import passes
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Row


@value
class Pass:
    """One pass of the dream."""

    id: int  # 0: nothing was due, and nothing was done
    began_at: datetime
    ended_at: datetime | None  # None: it is under way, or died
    why: str
    host: str
    pid: int
    before: dict[str, Drive]  # drives as they were sensed at the start
    drives: dict[str, Drive]  # as they stood at the end
    steps: tuple[Done, ...]
    seconds: float
    calls: int  # of a model
    tokens: int
    cost: float  # US dollars
    budget: str
    changes: dict[str, int]  # documents, pages and entries it wrote, by kind
    rot: Rot | None = None
    undone_at: datetime | None = None


@operation()
def dream_log(hub: Hub, limit: Annotated[int, Help("at most so many passes")] = 10) -> list[Pass]:
    """Show what the dream did and why, newest first."""
    return [_view(hub, row) for row in passes.newest(hub.engine, sessions.positive("limit", limit))]


def get(hub: Hub, pass_id: int) -> Pass:
    """Return one pass."""
    row = passes.get(hub.engine, pass_id)
    if row is None:
        raise NotFound(kind="pass", id=str(pass_id), hint="See `engram dream log`.")
    return _view(hub, row)


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
