"""Which logs are due: those that changed, today's not too often, and none too soon after it failed.

The end of a past day is due at once, since nothing may come after it to set it off.
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import sha256
from typing import Any

from engram.clock import HOUR, MINUTE
from engram.errors import InvalidInput
from engram.vault.vault import Vault

_USUAL = 60  # minutes, where a setting says nothing sensible
_FIRST = 5 * MINUTE  # until a log that failed is tried again; then twice as long each time
_LONGEST = 24 * HOUR


def digest(text: str) -> str:
    """Return what tells one state of a log from another."""
    return sha256(text.encode()).hexdigest()[:16]


def stamp(vault: Vault, day: str) -> list[int]:
    """Return what changes whenever a log is written, without reading it."""
    found = os.stat(vault.path(f"daily/{day}"))
    return [found.st_mtime_ns, found.st_size]


def stamps(vault: Vault) -> dict[str, list[int]]:
    """Return the stamps of all daily logs by their days, in one look at the directory."""
    found: dict[str, list[int]] = {}
    with suppress(FileNotFoundError), os.scandir(os.path.join(vault.root, "daily")) as there:
        for each in there:
            if each.is_file() and each.name.endswith(".md"):
                with suppress(OSError, InvalidInput):  # gone meanwhile, or a link to where nothing is ours to read
                    day = each.name[:-3]
                    seen = each.stat(follow_symlinks=False)
                    found[day] = stamp(vault, day) if each.is_symlink() else [seen.st_mtime_ns, seen.st_size]
    return found


def waits(log: dict[str, Any], day: str, today: str, now: int, minutes: Any) -> str:
    """Return why a log that changed has to wait; nothing if it is due."""
    tries, next_at = _whole(log.get("tries")), _whole(log.get("next_at"))
    if tries and now < next_at <= now + _LONGEST:  # farther ahead only if the clock was set back
        return f"failed {tries} times ({log.get('problem') or 'unknown'}), tried again in {_minutes(next_at - now)} min"
    compiled = parsed(log.get("compiled_at"))
    if compiled is None or day < today:
        return ""
    interval = (minutes if isinstance(minutes, int) and minutes > 0 else _USUAL) * MINUTE
    passed = now - compiled
    if 0 <= passed < interval:
        return f"compiled {passed // MINUTE} min ago, due again after {interval // MINUTE} min"
    return ""


def parsed(at: Any) -> int | None:
    """Return a time as it is kept, in microseconds; None if it is none."""
    from datetime import datetime

    try:
        found = datetime.fromisoformat(at)
        return round((found if found.tzinfo else found.astimezone()).timestamp() * 1_000_000)
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def failed(log: dict[str, Any], problem: str, now: int) -> dict[str, Any]:
    """Return what is kept of a log that could not be compiled: all as it was, and when to try again."""
    tries = max(0, _whole(log.get("tries"))) + 1
    pause = min(_FIRST << min(tries - 1, 20), _LONGEST)
    return {**log, "tries": tries, "next_at": now + pause, "problem": problem}


def _whole(given: Any) -> int:
    return given if isinstance(given, int) and not isinstance(given, bool) else 0


def _minutes(microseconds: int) -> int:
    return -(-microseconds // MINUTE)
