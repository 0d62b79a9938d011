"""Conversations for tests, written in one line."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from engram import Engram


def said(engram: Engram, session: str, began: str, *texts: str, origin: str | None = None) -> None:
    """Add messages by a user and an assistant in turns, a minute apart; a text may name its role."""
    start = datetime.fromisoformat(began)
    rows: list[dict[str, Any]] = []
    for n, text in enumerate(texts):
        role, _, rest = text.partition(": ")
        known = role in ("user", "assistant", "tool")
        row = {"role": role if known else ("user", "assistant")[n % 2], "content": rest if known else text,
               "at": (start + timedelta(minutes=n)).isoformat()}  # fmt: skip
        rows.append(row if origin is None else {**row, "origin": origin})
    engram.add_exchanges_bulk(session, rows)


def passages(engram: Engram, kind: str) -> dict[str, str]:
    """Return the passages of a kind, by key."""
    rows = engram.engine.run("select key, part, content from passages where kind = :kind order by part", kind=kind)
    found: dict[str, str] = {}
    for row in rows:
        found[row["key"]] = "\n".join(filter(None, (found.get(row["key"]), row["content"])))
    return found
