"""Judge how a session ended, from evidence: tests, commits, reverts, words. No I/O.

Each piece of evidence has a positive or negative weight. The sum decides, and its share of all evidence gives
the confidence. Who spoke last decides nothing by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engram.evidence import intent
from engram.evidence.episodes import DONE, FIXED, NOT_DONE, judge_result

_OUTDATED = 0.5  # weight of evidence the user objected to afterwards


def judge_outcome(state: dict[str, Any]) -> tuple[str, float, list[str]]:
    """Return the outcome, the confidence in it, and the evidence."""
    evidence = list(_iter_evidence(state))
    good = sum(weight for weight, _ in evidence if weight > 0)
    bad = -sum(weight for weight, _ in evidence if weight < 0)
    reasons = [words for _, words in sorted(evidence, key=lambda item: -abs(item[0]))]
    interruption = _describe_interruption(state, good=good, bad=bad)
    if interruption:
        return (
            ("abandoned" if good < 2 else "partial"),
            _compute_confidence(1.5 + bad, good / 2),
            [interruption, *reasons],
        )
    if good + bad < 1:
        return "unclear", 0.3, reasons
    if good >= 1 and bad >= 1 and 0.5 < good / bad < 2:
        return "partial", _compute_confidence(min(good, bad), abs(good - bad)), reasons
    if good > bad:
        return "success", _compute_confidence(good, bad), reasons
    return "failure", _compute_confidence(bad, good), reasons


def _compute_confidence(side: float, against: float) -> float:
    """Return the confidence of a side: high with much evidence for it and little against it."""
    return round(max(0.2, min(0.95, side / (side + against + 1.5))), 2)


def _iter_evidence(state: dict[str, Any]) -> Iterator[tuple[float, str]]:
    yield from _judge_tests(state)
    yield from _judge_commits(state)
    yield from _judge_errors(state)
    yield from _judge_words(state)
    yield from _judge_verdicts(state)
    yield from _judge_episodes(state)
    todo = state["todo"]
    if todo:
        open_items = [text for text, done in todo if not done]
        yield (0.5, "all planned steps done") if not open_items else (-0.5, f"{len(open_items)} planned steps open")


def _get_objection_counts(state: dict[str, Any]) -> tuple[int, int, int]:
    """Return the number of commits, test runs and pushes when the user last objected."""
    commits, runs, pushed = state["objected"] or (0, 0, 0)
    return commits, runs, pushed


def _judge_tests(state: dict[str, Any]) -> Iterator[tuple[float, str]]:
    """Weigh the last tests; little if the user objected afterwards."""
    tests, (_, before, _) = state["tests"], _get_objection_counts(state)
    if tests["last"] is True:
        yield (
            (2.0, "the last tests passed")
            if tests["runs"] > before
            else (_OUTDATED, "tests passed before an objection")
        )
    elif tests["last"] is False:
        yield -2.0, "the last tests failed"


def _judge_commits(state: dict[str, Any]) -> Iterator[tuple[float, str]]:
    before, _, pushed_before = _get_objection_counts(state)
    total = len(state["commits"]) + state["dropped"]
    since = total - state.get("reverted_at", 0)  # what was committed after work was discarded stands
    remaining = max(since if state["reverted"] else 0, total - state["reverted"])
    if remaining > 0:
        yield (
            (2.0, f"{remaining} commits kept")
            if total > before
            else (_OUTDATED, f"{remaining} commits before an objection")
        )
    if state["pushed"] > pushed_before:
        yield 1.0, "pushed"
    if state["reverted"]:
        yield (-0.3 if since else -1.5), f"work discarded {state['reverted']} times"


def _judge_errors(state: dict[str, Any]) -> Iterator[tuple[float, str]]:
    late = [error for error in state["errors"] if error["open"] and error["turn"] >= state["turn"] - 1]
    if late:
        yield -min(1.0, 0.3 * len(late)), f"{len(late)} errors not fixed at the end"
    if state["last_build"] is False:
        yield -1.0, "the last build or check failed"
    elif state["last_build"] is True:
        yield 0.7, "the last build or check passed"
    if state["api_errors"] and state["last"] == "api_error":
        yield -1.0, "ended with an API error"


def _judge_words(state: dict[str, Any]) -> Iterator[tuple[float, str]]:
    last_user, last_agent = state["said"], state["ended"]
    if state["turn"] > 1 and intent.is_correction(last_user):
        yield _weigh_objection(state), "the user's last message objects"
    elif state["turn"] > 1 and intent.is_approval(last_user):
        yield 1.5, "the user's last message approves"
    repeated = state["corrections"]
    if repeated >= 3:
        yield -0.5, f"corrected {repeated} times"
    if state["last"] == "assistant" and last_agent:
        if intent.is_giving_up(last_agent):
            yield -1.5, "the agent says it could not do it"
        elif state["changed"] and intent.is_claiming_done(last_agent):
            yield 0.7, "the agent says it is done"
        elif not state["changed"] and not intent.is_question(last_agent) and state["acts"]:
            yield 1.0, "answered after investigating"


def _weigh_objection(state: dict[str, Any]) -> float:
    """Return the weight of an objection: little if the agent then committed what was asked, more if it only worked."""
    before, _, _ = _get_objection_counts(state)
    if len(state["commits"]) + state["dropped"] > before:
        return -0.3
    return -1.5 if state["last"] == "assistant" else -2.0


def _judge_episodes(state: dict[str, Any]) -> Iterator[tuple[float, str]]:
    """Weigh what came of the requests, the last one above all."""
    kept = state["evidence"]["episodes"]
    results = [judge_result(episode, episode is kept[-1]) for episode in kept]
    if results and set(results) <= {DONE, FIXED}:
        yield 0.3, "every request was done"
    elif results and results[-1] == NOT_DONE:
        yield -1.0, "the last request was not done"


def _judge_verdicts(state: dict[str, Any]) -> Iterator[tuple[float, str]]:
    """Weigh the agent's own verdicts on its turns."""
    good, bad = state["verdicts"].get("ok", 0), state["verdicts"].get("error", 0)
    if bad and bad >= good:
        yield -1.0, "the agent's own verdict: failed"
    elif good and not bad:
        yield 0.4, "the agent's own verdict: completed"


def _describe_interruption(state: dict[str, Any], *, good: float, bad: float) -> str:
    """Describe how a session was interrupted, or return "".

    A transcript that ends after a call is not yet written to its end, if what was done so far passed. A subagent ends
    where its parent wants.
    """
    if state.get("subagent"):
        return ""
    if state["last"] == "interrupt":
        return "interrupted and not continued"
    if state["last"] == "user" and state["turn"] > 0 and not intent.is_approval(state["said"]):
        return "the last request was never answered"
    if state["last"] in ("call", "result") and not (good >= 2 and bad < 1):
        return "stopped in the middle of the work"
    return ""
