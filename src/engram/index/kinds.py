"""What a doc is, by name and number; without the weight of the columns that hold it."""

from __future__ import annotations

# Who said it, or what it is a piece of. The order is stored: only add to its end.
KINDS = (
    "user", "assistant", "tool", "system", "gist", "era", "digest", "profile", "narrative", "article", "daily", "guide",
    "log", "completion", "world",
)  # fmt: skip
EXCHANGES = 4  # how many of them are exchanges
TIERS = ("exchange", *KINDS[EXCHANGES:], "event")


def kind_of(name: str) -> int:
    """Return the number of a kind of doc; any other role is the system's."""
    return KINDS.index(name) if name in KINDS else KINDS.index("system")
