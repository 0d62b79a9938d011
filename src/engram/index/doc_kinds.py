"""Kinds of docs, by name and number, without loading the index."""

from __future__ import annotations

# Who said it, or what it is part of. The order is stored: only append.
KINDS = (
    "user", "assistant", "tool", "system", "gist", "era", "digest", "profile", "narrative", "article", "daily", "guide",
    "log", "completion", "world",
)  # fmt: skip
EXCHANGES = 4  # the number of kinds that are exchanges
TIERS = ("exchange", *KINDS[EXCHANGES:], "event")


def get_kind_number(name: str) -> int:
    """Return the number of a kind of doc; unknown roles count as system."""
    return KINDS.index(name) if name in KINDS else KINDS.index("system")
