"""Fingerprints of known fixes, and the sentences made of them. Pure."""

from __future__ import annotations

from collections import Counter

from engram.patterns.fingerprint import sanitize_line
from engram.platform.text import to_one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

# Kinds of lessons: another command, a missing program, a command that has to run first, the right directory, and a
# directory that the shell was in already.
INSTEAD, MISSING, SETUP, DIRECTORY, THERE = "instead", "missing", "first", "directory", "there"
ROOT = "the repository root"
_ARROW = " → "
_MAX_COMMANDS = 3  # commands named per directory
_MAX_PLACES = 3  # directories named
_LEAST_MESSAGE = 24  # characters of a message that say something


def format_fingerprint(kind: str, first: str, second: str) -> str:
    """Return the fingerprint of a lesson."""
    return f"{kind}: {first}{_ARROW}{second}"


def parse_fingerprint(fingerprint: str) -> tuple[str, str, str]:
    """Return the kind of a lesson and its two parts."""
    kind, _, rest = fingerprint.partition(": ")
    first, _, second = rest.partition(_ARROW)
    return kind, first, second


def find_seed(fingerprint: str) -> str:
    """Return the fingerprint whose pattern a lesson belongs to: the directories of a project are one problem."""
    kind, project, _ = parse_fingerprint(fingerprint)
    return format_fingerprint(DIRECTORY, project, "") if kind in (DIRECTORY, THERE) else fingerprint


def find_failing_program(fingerprint: str) -> str:
    """Return the program of the command that fails, or "" if it is not one."""
    kind, first, second = parse_fingerprint(fingerprint)
    failing = {INSTEAD: first, MISSING: first, SETUP: second}.get(kind, "")
    return failing.split()[0] if failing else ""


def word_fix(signal_rows: Sequence[dict[str, Any]], length: int) -> str:
    """Return what to do as one sentence of limited length."""
    newest = max(signal_rows, key=lambda row: (row["at"], row["session_id"]))
    kind, *parts = parse_fingerprint(newest["fingerprint"])
    first, second = (sanitize_line(part, 80) for part in parts)
    line = newest["quote"]
    if kind == INSTEAD:
        return _add_message(f"Run `{second}`; `{first}` fails", " here with", line, length)
    if kind == MISSING:
        return to_one_line(f"Run `{second}`; `{first}` is not installed.", length)
    if kind == SETUP:
        return _add_message(f"Run `{first}` before `{second}`", "; otherwise it fails with", line, length)
    return _word_directories(signal_rows, length)


def _word_directories(signal_rows: Sequence[dict[str, Any]], length: int) -> str:
    """Return which commands run where, those of most sessions first."""
    commands_by_place: dict[str, Counter[str]] = {}
    rows_by_place: Counter[str] = Counter()
    lines: dict[str, str] = {}
    for row in sorted(signal_rows, key=lambda row: (row["at"], row["session_id"], row["fingerprint"])):
        kind, _, place = parse_fingerprint(row["fingerprint"])
        place = sanitize_line(place, 60)
        rows_by_place[place] += 1  # also if the shell was there already: the work is done there
        if kind == DIRECTORY:
            commands_by_place.setdefault(place, Counter()).update(filter(None, row["fix"].split(", ")))
            lines[place] = row["quote"]
    if not commands_by_place:
        place = sanitize_line(parse_fingerprint(signal_rows[0]["fingerprint"])[2], 60)
        return f"Check the current directory before you run `cd {place}`; you may be there already."[:length]
    ranked = sorted(lines, key=lambda place: (-rows_by_place[place], place))[:_MAX_PLACES]
    parts = _fit_places({place: commands_by_place[place] for place in ranked}, length - len("Run ."))
    link = "; elsewhere they fail with" if len(parts) > 1 else "; elsewhere it fails with"
    return _add_message(f"Run {'; '.join(parts)}", link, lines[ranked[0]], length)


def _fit_places(commands_by_place: dict[str, Counter[str]], length: int) -> list[str]:
    """Return the commands of each place, fewer of them and then fewer places if they do not fit."""
    for places in range(len(commands_by_place), 0, -1):
        for most in range(_MAX_COMMANDS, 0, -1):
            chosen = list(commands_by_place.items())[:places]
            parts = [f"{_list_commands(counts, most)} in {_quote_place(place)}" for place, counts in chosen]
            if len("; ".join(parts)) <= length:
                return parts
    return parts[:1]


def _quote_place(place: str) -> str:
    return place if place == ROOT else f"`{place}`"


def _list_commands(counts: Counter[str], most: int) -> str:
    names = [f"`{name}`" for name in sorted(counts, key=lambda name: (-counts[name], name))[:most]]
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _add_message(sentence: str, link: str, line: str, length: int) -> str:
    """Return a sentence with the message of the failure, as far as it fits."""
    opening, closing = "“”" if "'" in line else "''"
    head = f"{sentence}{link} {opening}"
    room = length - len(head) - len(f"{closing}.")
    if line and room >= min(_LEAST_MESSAGE, len(line)):
        return f"{head}{to_one_line(line, room)}{closing}."
    return to_one_line(f"{sentence}.", length)
