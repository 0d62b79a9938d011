"""The facts of a digest: what fits into 2 KB, the most telling first. Pure."""

from __future__ import annotations

import json
from typing import Any

from engram.text import one_line

LIMIT = 2048  # bytes of JSON
_BESIDE = 220  # of them for what comes beside: outcome, confidence, tokens

# How many files and how many of every other list are kept: tried from left to right until all fits. Files go last.
_SHARES = ((16, 10), (16, 8), (16, 6), (14, 5), (14, 4), (12, 3), (10, 2), (6, 1), (3, 1), (0, 0))


def facts(state: dict[str, Any], goal: str, evidence: list[str]) -> dict[str, Any]:
    """Return the facts of a session within the limit."""
    for files, others in _SHARES:
        found = _facts(state, goal, evidence, files, others)
        if len(json.dumps(found, ensure_ascii=False).encode()) <= LIMIT - _BESIDE:
            return found
    return {"goal": one_line(goal, 200)}


def _facts(state: dict[str, Any], goal: str, evidence: list[str], files: int, others: int) -> dict[str, Any]:
    cwd, changed = state.get("cwd"), state["changed"]
    found: dict[str, Any] = {
        "goal": one_line(goal, 240 if others > 3 else 160),
        "then": state["requests"][: others // 2],
        "evidence": [one_line(each, 60) for each in evidence[: max(others // 2, 1)]],
        "changed": _top(changed, files, cwd),
        "read": _top({path: n for path, n in state["read"].items() if path not in changed}, files // 2, cwd),
        "errors": [_error(each) for each in _worst(state["errors"], others)],
        "tests": state["tests"] if state["tests"]["runs"] else None,
        "commits": state["commits"][-others:] if others else [],
        "corrections": state["objections"][-max(others // 2, 1) :],
        "commands": {"run": state["commands"], "failed": state["failed"]} if state["commands"] else None,
        "notable": _notable(state, others // 2),
        "open": _open(state, others),
        "ended": _last(state["ended"], 200 if others > 3 else 120),
        "prompts": state["turn"],
        **{name: state[name] for name in ("interrupts", "denials", "compactions", "api_errors", "reverted", "pushed")},
        "minutes": round(state["active"] / 60_000_000),
        "span_minutes": round(((state["until"] or 0) - (state["from"] or 0)) / 60_000_000) if state["from"] else 0,
    }
    return {name: each for name, each in found.items() if each not in (None, [], "", 0)}


def _last(said: str, length: int) -> str:
    """Return the end of a text on one line, from the beginning of a word."""
    line = one_line(said[-4 * length :], 4 * length)
    end = line[1 - length :]
    return line if len(line) <= length else f"…{end.partition(' ')[2] or end}"


def _top(paths: dict[str, int], count: int, cwd: str | None) -> list[str]:
    """Return the paths that were dealt with most, as seen from where the session works."""
    chosen = sorted(paths, key=lambda path: (-paths[path], path))[:count]
    shown = [path.removeprefix(f"{cwd}/") if cwd else path for path in chosen]
    more = len(paths) - len(chosen)
    return [*shown, f"+{more} more"] if more and shown else shown


def _notable(state: dict[str, Any], count: int) -> list[str]:
    """Return the last commands that failed or had a purpose, with what they returned."""
    return [f"{command} → {code}" for command, code in state["notable"][-count:]] if count else []


def _worst(errors: list[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """Return the errors that matter most: not mended, often met, late."""
    return sorted(errors, key=lambda each: (each["open"], each["times"], each["turn"]), reverse=True)[:count]


def _error(each: dict[str, Any]) -> str:
    times = f" ×{each['times']}" if each["times"] > 1 else ""
    end = "" if each["open"] else f" → {each['fix']}"
    return f"{one_line(each['line'], 110)}{times} [{one_line(each['about'], 40)}]{end}"


def _open(state: dict[str, Any], count: int) -> list[str]:
    """Return what was left to do."""
    planned = [text for text, done in state["todo"] if not done]
    asked = [one_line(state["said"], 120)] if state["last"] == "user" and state["turn"] else []
    question = (
        [one_line(state["ended"].rstrip().rpartition("\n")[2], 140)] if state["ended"].rstrip().endswith("?") else []
    )
    return [*planned[:count], *asked, *question][: max(count, 1)]
