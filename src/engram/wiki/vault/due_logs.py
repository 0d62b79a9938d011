"""Decide which logs are due: changed ones, today's at most once per interval, failed ones after a delay.

A log of a past day is due immediately, since nothing may come after it to trigger it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import sha256
from typing import Any

from engram.clock import HOUR, MINUTE
from engram.errors import InvalidInput
from engram.wiki.vault.vault import Vault

_DEFAULT_MINUTES = 60  # minutes, if the setting is not usable
_FIRST_PAUSE = 5 * MINUTE  # delay before a failed log is retried; doubles each time
_MAX_PAUSE = 24 * HOUR


def hash_text(text: str) -> str:
    """Return the hash of a log's text."""
    return sha256(text.encode()).hexdigest()[:16]


def read_stamp(vault: Vault, day: str) -> list[int]:
    """Return a stamp that changes whenever a log is written, without reading it."""
    file_stat = os.stat(vault.resolve_path(f"daily/{day}"))
    return [file_stat.st_mtime_ns, file_stat.st_size]


def read_stamps(vault: Vault) -> dict[str, list[int]]:
    """Return the stamps of all daily logs by day, in one directory scan."""
    stamps_by_day: dict[str, list[int]] = {}
    with suppress(FileNotFoundError), os.scandir(os.path.join(vault.root, "daily")) as dir_entries:
        for dir_entry in dir_entries:
            if dir_entry.name.endswith(".md") and dir_entry.is_file():
                try:
                    if dir_entry.is_symlink():
                        stamps_by_day[dir_entry.name[:-3]] = read_stamp(vault, dir_entry.name[:-3])
                    else:
                        file_stat = dir_entry.stat(follow_symlinks=False)
                        stamps_by_day[dir_entry.name[:-3]] = [file_stat.st_mtime_ns, file_stat.st_size]
                except (OSError, InvalidInput):  # deleted meanwhile, or a link to something that is not ours
                    continue
    return stamps_by_day


def find_wait_reason(log: dict[str, Any], day: str, today: str, now: int, minutes: Any) -> str:
    """Return why a changed log has to wait; empty if it is due."""
    tries, next_at = _int_or_zero(log.get("tries")), _int_or_zero(log.get("next_at"))
    if tries and now < next_at <= now + _MAX_PAUSE:  # a later time only if the clock was set back
        return (
            f"failed {tries} times ({log.get('problem') or 'unknown'}), retry in {_round_up_minutes(next_at - now)} min"
        )
    compiled = parse_time(log.get("compiled_at"))
    if compiled is None or day < today:
        return ""
    interval = (minutes if isinstance(minutes, int) and minutes > 0 else _DEFAULT_MINUTES) * MINUTE
    passed = now - compiled
    if 0 <= passed < interval:
        return f"compiled {passed // MINUTE} min ago, due again after {interval // MINUTE} min"
    return ""


def parse_time(at: Any) -> int | None:
    """Parse a stored time to microseconds; None if invalid."""
    from datetime import datetime

    try:
        parsed_time = datetime.fromisoformat(at)
        return round((parsed_time if parsed_time.tzinfo else parsed_time.astimezone()).timestamp() * 1_000_000)
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def record_failure(log: dict[str, Any], problem: str, now: int) -> dict[str, Any]:
    """Return the record of a log that failed: unchanged, plus the time of the next try."""
    tries = max(0, _int_or_zero(log.get("tries"))) + 1
    pause = min(_FIRST_PAUSE << min(tries - 1, 20), _MAX_PAUSE)
    return {**log, "tries": tries, "next_at": now + pause, "problem": problem}


def _int_or_zero(candidate: Any) -> int:
    return candidate if isinstance(candidate, int) and not isinstance(candidate, bool) else 0


def _round_up_minutes(microseconds: int) -> int:
    return -(-microseconds // MINUTE)
