"""Transcripts of work on a shop, whose evidence is worth pages."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from engram import Engram
from tests.patterns.writers import START, Claude

SHOP = "/home/me/shop"
RULES = (
    "Add a price list to the shop. Prices must always be integer cents, never floats, in every table.",
    "Round the invoice totals. Invoice totals must always be rounded half up before the tax is added.",
    "Show the refunds in the account. Refund receipts must never name the customer, only the order number.",
    "Export the orders every night. Order exports must always use semicolons as separators, never commas.",
)
ERROR = "pattern ./...: directory prefix . does not contain main module or its selected dependencies"
PAGE, DECISIONS, PRICES = "concepts/shop", "concepts/shop-decisions", "concepts/shop-prices"
FAILURE = "concepts/shop-pattern-directory-prefix-does-not-contain-main-module-or-its"


def work(home: Path, name: str, day: int, request: str, project: str = SHOP) -> Claude:
    """Write a session that fails, passes and changes files."""
    writer = Claude(home, name, project, START + timedelta(days=day))
    writer.says(request)
    writer.runs("go test ./...", ERROR, 1)
    writer.runs("cd backend && go test ./...", "ok  \tshop/prices\t0.2s")
    for path in ("prices/table.py", "prices/labels.py"):
        writer.edits(path, "a", f"b{day}")
    writer.answers("Done: the tests pass.")
    return writer


def read(engram: Engram, home: Path) -> None:
    """Ingest the transcripts and write the daily logs."""
    engram.ingest([str(home / ".claude")])
    engram.flush()


def work_a_week(engram: Engram, home: Path) -> None:
    """Ingest four days of work."""
    for day, request in enumerate(RULES):
        work(home, f"s{day}", day, request)
    read(engram, home)
