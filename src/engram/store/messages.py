"""Messages, one row per recipient, so that delivery is one update whatever lies behind."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from engram.store.engine import Engine, Row

_INSERT = """
insert into messages (sender, recipient, project, kind, body, sent_at)
values (:sender, :recipient, :project, :kind, :body, :now)
"""

_SELECT = "select m.*, s.flavor from messages m left join sessions s on s.id = m.sender"


def insert(engine: Engine, **facts: Any) -> None:
    """Store a message for one recipient, or for whoever comes next."""
    engine.run(_INSERT, **facts)


def unread(engine: Engine, session_id: str, limit: int) -> list[Row]:
    """Return what a session has not been told, oldest first."""
    return engine.run(
        f"{_SELECT} where m.recipient = :session_id and m.delivered_at is null order by m.id limit :limit",
        session_id=session_id, limit=limit,
    )  # fmt: skip


def history(engine: Engine, session_id: str, limit: int) -> list[Row]:
    """Return what a session was told or has waiting, newest first."""
    return engine.run(
        f"{_SELECT} where m.recipient = :session_id order by m.id desc limit :limit",
        session_id=session_id, limit=limit,
    )  # fmt: skip


def newest(engine: Engine, project: str | None, unread: bool, limit: int) -> list[Row]:
    """Return messages of a project or of all, whoever they are for, newest first."""
    where = "(cast(:project as text) is null or m.project = :project)"
    only = " and m.delivered_at is null" if unread else ""
    return engine.run(f"{_SELECT} where {where}{only} order by m.id desc limit :limit", project=project, limit=limit)


def deliver(engine: Engine, ids: Iterable[int], now: int) -> set[int]:
    """Mark messages as told and return those that nobody else told first."""
    told: set[int] = set()
    for message_id in ids:
        rows = engine.run(
            "update messages set delivered_at = :now where id = :id and delivered_at is null returning id",
            id=message_id, now=now,
        )  # fmt: skip
        told.update(row["id"] for row in rows)
    return told


def adopt(engine: Engine, project: str, session_id: str) -> None:
    """Give a new session what was left for the next one."""
    engine.run(
        "update messages set recipient = :session_id where recipient is null and project = :project",
        session_id=session_id, project=project,
    )  # fmt: skip


def unread_count(engine: Engine, session_id: str) -> int:
    """Count what a session has not been told."""
    where = "recipient = :session_id and delivered_at is null"
    return int(engine.run(f"select count(*) as n from messages where {where}", session_id=session_id)[0]["n"])


def unread_total(engine: Engine) -> int:
    """Count what anybody has not been told."""
    return int(engine.run("select count(*) as n from messages where delivered_at is null")[0]["n"])


def losses(engine: Engine, session_id: str) -> list[Row]:
    """Return the lost locks a session has not been told of."""
    return engine.run(
        "select id, body from messages"
        " where recipient = :session_id and delivered_at is null and kind = 'loss' order by id",
        session_id=session_id,
    )
