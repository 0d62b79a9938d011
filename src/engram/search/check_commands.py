"""Answer "how do I run the tests": the command that passed most often, how often and when it last passed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engram.clock import to_datetime
from engram.evidence.command_line import parse_command
from engram.evidence.purposes import find_run, list_filters, list_targets
from engram.index.tokenizer import extract_terms
from engram.platform.text import format_count, to_one_line
from engram.store import session_errors
from engram.types import Hit

if TYPE_CHECKING:
    from datetime import tzinfo

    from engram.hub import Hub
    from engram.search.filter import Filter
    from engram.store.engine import Row

_READ = 4_000  # checks
_OTHERS = 3  # other commands that are named
_NEVER_MIND = frozenset(("-v", "-vv", "-q", "--verbose", "--quiet", "-count=1", "--no-cov", "-x"))
_NARROW = 0.25  # worth of a run of a part, relative to a run of everything
_COMMAND = 160  # characters
_USUAL = 2  # sessions in which another command passed that is named


def find_commands(
    hub: Hub, purpose: str, part: frozenset[str], filters: Filter, zone: tzinfo | None
) -> list[Hit]:  # fmt: skip
    """Return one hit for each project: the command that serves a purpose, on a part of the project if one is named."""
    until = (1 << 62) if filters.until is None else filters.until
    by_project: dict[str, list[Row]] = {}
    for row in session_errors.list_checks(hub.engine, filters.project, until, _READ):
        by_project.setdefault(row["project"] or "", []).append(row)
    found = [_find_in_project(project, rows, purpose, part, zone) for project, rows in by_project.items()]
    return sorted(filter(None, found), key=lambda hit: -hit.why["sessions"])


def _find_in_project(
    project: str, rows: list[Row], purpose: str, part: frozenset[str], zone: tzinfo | None
) -> Hit | None:
    tallies: dict[str, dict[str, Any]] = {}
    for row in rows:
        for command, is_whole in _list_commands(row["command"], purpose):
            tally = tallies.setdefault(
                command, {"sessions": set(), "runs": 0, "last": row, "whole": is_whole, "places": {}}
            )
            tally["sessions"].add(row["session_id"])
            tally["runs"] += 1
            place = _find_place(row["command"])
            tally["places"][place] = tally["places"].get(place, 0) + 1
    ranked = sorted(tallies, key=lambda command: (not part & set(extract_terms(command)), -_weigh(tallies[command])))
    return _build_hit(project, ranked, tallies, zone) if ranked else None


def _list_commands(line: str, purpose: str) -> list[tuple[str, bool]]:
    """Return the programs of a command line that serve a purpose, and whether they run on everything."""
    found: list[tuple[str, bool]] = []
    for run in parse_command(line):
        words = [word for word in run.words if word not in _NEVER_MIND]
        if find_run(" ".join(words))[0] == purpose:
            found.append((" ".join(words), not list_targets(run) and not list_filters(run)))
    return list(dict.fromkeys(found))


def _weigh(tally: dict[str, Any]) -> float:
    return float(len(tally["sessions"]) + 0.1 * tally["runs"]) * (1.0 if tally["whole"] else _NARROW)


def _is_usual(command: str, tally: dict[str, Any]) -> bool:
    return len(tally["sessions"]) >= _USUAL and len(command) <= _COMMAND


def _find_place(line: str) -> str:
    """Return the directory that a command line changes to first."""
    first = line.strip().split("&&")[0].split(";")[0].strip()
    return first[3:].strip().strip("\"'") if first.startswith("cd ") else ""


def _build_hit(project: str, ranked: list[str], tallies: dict[str, dict[str, Any]], zone: tzinfo | None) -> Hit:
    best = tallies[ranked[0]]
    last = best["last"]
    lines = [f"{to_one_line(ranked[0], _COMMAND)} {_describe(best, zone)}"]
    place = max(best["places"], key=lambda name: (bool(name), best["places"][name]))
    if place:
        lines.append(f"Run in {place}.")
    others = [command for command in ranked[1:] if _is_usual(command, tallies[command])][:_OTHERS]
    lines += [f"Also: {to_one_line(command, _COMMAND)} {_describe(tallies[command], zone)}" for command in others]
    return Hit(
        id="", tier="command", session_id=last["session_id"], role="", at=to_datetime(last["at"]),
        snippet="\n".join(lines), score=1.0, why={"sessions": float(len(best["sessions"]))}, project=project,
        origin="tool", name=ranked[0], read_on=f"engram show {last['session_id']}",
    )  # fmt: skip


def _describe(tally: dict[str, Any], zone: tzinfo | None) -> str:
    day = to_datetime(tally["last"]["at"]).astimezone(zone).date().isoformat()
    return f"(passed in {format_count(len(tally['sessions']), 'session')}, last {day})"
