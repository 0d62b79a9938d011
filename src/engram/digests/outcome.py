"""How a session ended, from evidence: what was tested, committed, reverted, said. Pure.

Each piece of evidence pulls one way with a weight; the sum decides, and its size against all that was found says
how sure that is. Who spoke last decides nothing by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engram.digests import voice

_OUTDATED = 0.5  # what evidence weighs that the user objected to afterwards


def judged(state: dict[str, Any]) -> tuple[str, float, list[str]]:
    """Return the outcome, the confidence in it, and the evidence."""
    evidence = list(_evidence(state))
    good = sum(weight for weight, _ in evidence if weight > 0)
    bad = -sum(weight for weight, _ in evidence if weight < 0)
    told = [words for _, words in sorted(evidence, key=lambda each: -abs(each[0]))]
    left = _left_off(state)
    if left:
        return ("abandoned" if good < 2 else "partial"), _sure(1.5 + bad, good / 2), [left, *told]
    if good + bad < 1:
        return "unclear", 0.3, told
    if good >= 1 and bad >= 1 and 0.5 < good / bad < 2:
        return "partial", _sure(min(good, bad), abs(good - bad)), told
    if good > bad:
        return "success", _sure(good, bad), told
    return "failure", _sure(bad, good), told


def _sure(side: float, other: float) -> float:
    """Return how sure a side is: much evidence, and little against it."""
    return round(max(0.2, min(0.95, side / (side + other + 1.5))), 2)


def _evidence(state: dict[str, Any]) -> Iterator[tuple[float, str]]:
    yield from _tests(state)
    yield from _commits(state)
    yield from _errors(state)
    yield from _words(state)
    yield from _verdicts(state)
    todo = state["todo"]
    if todo:
        open_items = [text for text, done in todo if not done]
        yield (0.5, "all planned steps done") if not open_items else (-0.5, f"{len(open_items)} planned steps open")


def _since(state: dict[str, Any]) -> tuple[int, int, int]:
    """Return how many commits, test runs and pushes there were when the user last objected."""
    commits, runs, pushed = state["objected"] or (0, 0, 0)
    return commits, runs, pushed


def _tests(state: dict[str, Any]) -> Iterator[tuple[float, str]]:
    """Count the last tests; those the user objected to afterwards say little."""
    tests, (_, before, _) = state["tests"], _since(state)
    if tests["last"] is True:
        yield (
            (2.0, "the last tests passed")
            if tests["runs"] > before
            else (_OUTDATED, "tests passed before an objection")
        )
    elif tests["last"] is False:
        yield -2.0, "the last tests failed"


def _commits(state: dict[str, Any]) -> Iterator[tuple[float, str]]:
    before, _, pushed_before = _since(state)
    made = len(state["commits"]) + state["dropped"]
    kept = made - state["reverted"]
    if kept > 0:
        yield (2.0, f"{kept} commits kept") if made > before else (_OUTDATED, f"{kept} commits before an objection")
    if state["pushed"] > pushed_before:
        yield 1.0, "pushed"
    if state["reverted"]:
        yield -1.5, f"{state['reverted']} times work was thrown away"


def _errors(state: dict[str, Any]) -> Iterator[tuple[float, str]]:
    late = [each for each in state["errors"] if each["open"] and each["turn"] >= state["turn"] - 1]
    if late:
        yield -min(1.0, 0.3 * len(late)), f"{len(late)} errors not mended at the end"
    if state["last_build"] is False:
        yield -1.0, "the last build or check failed"
    elif state["last_build"] is True:
        yield 0.7, "the last build or check passed"
    if state["api_errors"] and state["last"] == "api_error":
        yield -1.0, "ended in an error of the model's service"


def _words(state: dict[str, Any]) -> Iterator[tuple[float, str]]:
    last_user, last_agent = state["said"], state["ended"]
    if state["turn"] > 1 and voice.corrects(last_user):
        yield -2.0, "the user's last words object"
    elif state["turn"] > 1 and voice.approves(last_user):
        yield 1.5, "the user's last words approve"
    repeated = state["corrections"]
    if repeated >= 3:
        yield -0.5, f"corrected {repeated} times"
    if state["last"] == "assistant" and last_agent:
        if voice.gives_up(last_agent):
            yield -1.5, "the agent says it could not do it"
        elif state["changed"] and voice.claims_done(last_agent):
            yield 0.7, "the agent says it is done"
        elif not state["changed"] and not voice.asks(last_agent) and state["acts"]:
            yield 0.6, "answered after looking"


def _verdicts(state: dict[str, Any]) -> Iterator[tuple[float, str]]:
    """Count what the flavor itself says of how its turns ended."""
    good, bad = state["verdicts"].get("ok", 0), state["verdicts"].get("error", 0)
    if bad and bad >= good:
        yield -1.0, "the agent's own verdict: failed"
    elif good and not bad:
        yield 0.4, "the agent's own verdict: completed"


def _left_off(state: dict[str, Any]) -> str:
    """Return how a session was left in the middle, if it was."""
    if state["last"] == "interrupt":
        return "interrupted, and nobody went on"
    if state["last"] == "user" and state["turn"] > 0 and not voice.approves(state["said"]):
        return "the last request was never answered"
    if state["last"] in ("call", "result"):
        return "it stops in the middle of the work"
    return ""
