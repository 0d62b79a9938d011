"""The facts of a digest: what fits into 2 KB, most important first. No I/O."""

from __future__ import annotations

import json
from typing import Any

from engram.evidence.episode_facts import list_causes
from engram.evidence.episodes import TEMPORARY, list_all_open, list_decisions
from engram.evidence.errors import CHECK, EDIT
from engram.platform.text import to_one_line

LIMIT = 2048  # bytes of JSON
_BESIDE = 280  # bytes reserved for outcome, confidence and tokens

# Maximum files and maximum items of every other list, tried from left to right until all fits; files shrink last.
_SHARES = ((16, 10), (16, 8), (16, 6), (16, 5), (16, 4), (16, 3), (16, 2), (16, 1), (12, 1), (6, 1), (3, 1), (0, 0))


def build_facts(state: dict[str, Any], goal: str, evidence: list[str]) -> dict[str, Any]:
    """Return the facts of a session within the size limit."""
    understood = {
        "decisions": _list_decisions(state), "causes": _list_causes(state), "open": _list_open_items(state),
    }  # fmt: skip
    for files, others in _SHARES:
        digest_facts = _collect_facts({**state, **understood}, goal, evidence, files, others)
        if len(json.dumps(digest_facts, ensure_ascii=False).encode()) <= LIMIT - _BESIDE:
            return digest_facts
    return {"goal": to_one_line(goal, 200)}


def _collect_facts(state: dict[str, Any], goal: str, evidence: list[str], files: int, others: int) -> dict[str, Any]:
    cwd, changed = state.get("cwd"), state["changed"]
    collected: dict[str, Any] = {
        "goal": to_one_line(goal, 240 if others > 3 else 160),
        "then": state["requests"][: others // 2],
        "evidence": [to_one_line(item, 60) for item in evidence[: max(others // 2, 1)]],
        "changed": _list_top_paths(changed, files, cwd),
        "read": _list_top_paths({path: n for path, n in state["read"].items() if path not in changed}, files // 2, cwd),
        "errors": [_format_error(item) for item in _pick_worst(state["errors"], others)],
        "tests": state["tests"] if state["tests"]["runs"] else None,
        "commits": state["commits"][-others:] if others else [],
        "corrections": state["objections"][-max(others // 2, 1) :],
        "decisions": [to_one_line(item, 150) for item in state["decisions"][-others:]] if others else [],
        "causes": [to_one_line(item, 160) for item in state["causes"][-max(others // 3, 1) :]],
        "friction": [to_one_line(item, 130) for item in state["friction"][-max(others // 2, 1) :]],
        "commands": {"run": state["commands"], "failed": state["failed"]} if state["commands"] else None,
        "notable": _list_notable(state, others // 2 if others > 6 else 0),
        "open": [to_one_line(item, 160) for item in state["open"][: max(others, 1)]],
        "ended": _take_end(state["ended"], 200 if others > 3 else 120),
        "prompts": state["turn"],
        **{name: state[name] for name in ("interrupts", "denials", "compactions", "api_errors", "reverted", "pushed")},
        "minutes": round(state["active"] / 60_000_000),
        "span_minutes": round(((state["until"] or 0) - (state["from"] or 0)) / 60_000_000) if state["from"] else 0,
    }
    return {name: item for name, item in collected.items() if item not in (None, [], "", 0)}


def _take_end(text: str, length: int) -> str:
    """Return the end of a text on one line, starting at a word."""
    line = to_one_line(text[-4 * length :], 4 * length)
    end = line[1 - length :]
    return line if len(line) <= length else f"…{end.partition(' ')[2] or end}"


def _list_top_paths(paths: dict[str, int], count: int, cwd: str | None) -> list[str]:
    """Return the most used paths, relative to the session's directory."""
    times: dict[str, int] = {}
    for path, number in paths.items():
        if not TEMPORARY.search(path):  # git names files from the directory, edits often from the root
            shown_path = path.removeprefix(f"{cwd}/") if cwd else path
            times[shown_path] = times.get(shown_path, 0) + number
    shown = sorted(times, key=lambda path: (-times[path], path))[:count]
    more = len(times) - len(shown)
    return [*shown, f"+{more} more"] if more and shown else shown


def _list_notable(state: dict[str, Any], count: int) -> list[str]:
    """Return the last commands that failed or had a known purpose, with their exit codes."""
    return [f"{command} → {code}" for command, code in state["notable"][-count:]] if count else []


def _pick_worst(errors: list[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """Return the most important errors: unfixed, frequent, recent."""
    errors = [error for error in errors if error["open"] or error["sort"] != EDIT]  # reading a file again is routine
    return sorted(errors, key=lambda error: (error["open"], error["times"], error["turn"]), reverse=True)[:count]


def _format_error(error: dict[str, Any]) -> str:
    times = f" ×{error['times']}" if error["times"] > 1 else ""
    end = "" if error["open"] else f" → {error['fix']}"
    return f"{to_one_line(error['line'], 110)}{times} [{to_one_line(error['about'], 40)}]{end}"


def _list_open_items(state: dict[str, Any]) -> list[str]:
    """Return what was left to do."""
    red = [error for error in state["errors"] if error["open"] and error["sort"] == CHECK]
    failing = [f"The last tests failed: {error['line']}" for error in red[-1:] if state["tests"]["last"] is False]
    return [*failing, *list_all_open(state["evidence"])]


def _list_decisions(state: dict[str, Any]) -> list[str]:
    return [
        item["text"]
        for episode in state["evidence"]["episodes"]
        for item in list_decisions(episode)
        if not item.get("by")
    ]


def _list_causes(state: dict[str, Any]) -> list[str]:
    return [cause["text"] for episode in state["evidence"]["episodes"] for cause in list_causes(episode)]
