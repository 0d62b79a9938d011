"""Times as people write them on the command line."""

from __future__ import annotations

from datetime import datetime, timezone

from engram.errors import InvalidInput


def parse_hours_ago(since: str | None) -> float | None:
    """Return how many hours ago a time was: 12h, 7d, 2026-11-01."""
    if since is None:
        return None
    try:
        if since[-1:] in ("h", "d"):
            return float(since[:-1]) * (24 if since.endswith("d") else 1)
        then = datetime.fromisoformat(since).astimezone()
        return (datetime.now(timezone.utc) - then).total_seconds() / 3600
    except ValueError:
        reason = f"Cannot read {since!r} as a time. Try 12h, 7d or 2026-11-01."
        raise InvalidInput(field="since", reason=reason) from None
