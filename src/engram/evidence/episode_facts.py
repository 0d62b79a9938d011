"""The facts of one episode, as they are stored and shown. Pure."""

from __future__ import annotations

from typing import Any

from engram.evidence.episodes import EpisodeFold, judge_result, list_decisions
from engram.evidence.titles import complete_title

_KEPT = ("number", "request", "keys", "from", "until", "read", "changed", "commits")
_ERROR_FACTS = (
    "line", "cause", "fix", "times", "known", "shape", "names", "how", "passing", "verified", "key", "command",
)  # fmt: skip
_CAUSES = 3
_ERRORS = 6


def build_episodes(state: dict[str, Any], fold: EpisodeFold) -> list[dict[str, Any]]:
    """Return the facts of the episodes that changed since the last save."""
    kept = fold.state["episodes"]
    changed = [episode for episode in kept if episode["number"] in fold.dirty]
    return [_build_episode(state, fold, episode, episode is kept[-1]) for episode in [*fold.dropped, *changed]]


def _build_episode(state: dict[str, Any], fold: EpisodeFold, episode: dict[str, Any], is_last: bool) -> dict[str, Any]:
    end = fold.describe_end(episode, is_last=True) if is_last else episode
    return {
        **{name: episode[name] for name in _KEPT}, "title": complete_title({**episode, **end}),
        "result": judge_result(episode, is_last), "more": episode["more"], "decisions": list_decisions(episode),
        "rejected": episode["rejected"], "causes": list_causes(episode),
        "errors": _list_errors(state, episode["number"]), "refused": episode["denied"],
        "tests": {True: "passed", False: "failed"}.get(episode["tests"]), "open": end["open"], "report": end["report"],
    }  # fmt: skip


def list_causes(episode: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the causes that what followed bore out: a change and, where there was a check, its success.

    A cause that is told after the change, when all checks passed, is the agent's account of what was fixed.
    """
    checks = (episode["tests"], episode["build"])
    if episode["failed"] or episode["tests"] is False:
        return [_name_cause(cause) for cause in episode["causes"] if cause.get("borne") and not episode["failed"]]
    changed, checked = len(episode["changed"]), any(check is not None for check in checks)
    borne = [
        cause for cause in episode["causes"]
        if cause.get("borne") or (changed and cause["changes"] in (0, changed)) or not (checked or changed)
    ]  # fmt: skip
    return [_name_cause(cause) for cause in borne[-_CAUSES:]]


def _name_cause(cause: dict[str, Any]) -> dict[str, Any]:
    return {"text": cause["text"], "keys": cause["keys"]}


def _list_errors(state: dict[str, Any], number: int) -> list[dict[str, Any]]:
    return [
        {name: error.get(name, "") for name in _ERROR_FACTS} | {"keys": error.get("keys") or [error["key"]]}
        for error in state["errors"]
        if error.get("episode") == number
    ][-_ERRORS:]
