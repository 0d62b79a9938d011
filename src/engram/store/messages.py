"""Messages: one row per recipient, so that delivery is a single update."""

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
    """Insert a message for one recipient, or for the next session."""
    engine.run(_INSERT, **facts)


def list_unread(engine: Engine, session_id: str, limit: int) -> list[Row]:
    """Return the unread messages of a session, oldest first."""
    return engine.run(
        f"{_SELECT} where m.recipient = :session_id and m.delivered_at is null order by m.id limit :limit",
        session_id=session_id, limit=limit,
    )  # fmt: skip


def list_received(engine: Engine, session_id: str, limit: int) -> list[Row]:
    """Return all messages to a session, read or not, newest first."""
    return engine.run(
        f"{_SELECT} where m.recipient = :session_id order by m.id desc limit :limit",
        session_id=session_id, limit=limit,
    )  # fmt: skip


def list_newest(engine: Engine, project: str | None, unread: bool, limit: int) -> list[Row]:
    """Return messages of a project or of all, to any recipient, newest first."""
    where = "(cast(:project as text) is null or m.project = :project)"
    only = " and m.delivered_at is null" if unread else ""
    return engine.run(f"{_SELECT} where {where}{only} order by m.id desc limit :limit", project=project, limit=limit)


def mark_delivered(engine: Engine, ids: Iterable[int], now: int) -> set[int]:
    """Mark messages as delivered and return those that no one else delivered first."""
    delivered: set[int] = set()
    for message_id in ids:
        rows = engine.run(
            "update messages set delivered_at = :now where id = :id and delivered_at is null returning id",
            id=message_id, now=now,
        )  # fmt: skip
        delivered.update(row["id"] for row in rows)
    return delivered


def assign_to_session(engine: Engine, project: str, session_id: str) -> None:
    """Give a new session the messages left for the next one."""
    engine.run(
        "update messages set recipient = :session_id where recipient is null and project = :project",
        session_id=session_id, project=project,
    )  # fmt: skip


def delete_sent(engine: Engine, session_id: str) -> int:
    """Delete the messages a session sent and count them; undelivered notices of lost locks stay."""
    where = "sender = :session_id and (kind <> 'loss' or delivered_at is not null)"
    return len(engine.run(f"delete from messages where {where} returning id", session_id=session_id))


def count_unread(engine: Engine, session_id: str) -> int:
    """Count the unread messages of a session."""
    where = "recipient = :session_id and delivered_at is null"
    return int(engine.run(f"select count(*) as n from messages where {where}", session_id=session_id)[0]["n"])


def count_all_unread(engine: Engine) -> int:
    """Count the unread messages of all sessions."""
    return int(engine.run("select count(*) as n from messages where delivered_at is null")[0]["n"])


def list_unread_losses(engine: Engine, session_id: str) -> list[Row]:
    """Return the lost locks a session has not been told about."""
    return engine.run(
        "select id, body from messages"
        " where recipient = :session_id and delivered_at is null and kind = 'loss' order by id",
        session_id=session_id,
    )
