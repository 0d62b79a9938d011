"""Reflection: what went well, what keeps failing, what is open and what to ask, in the first person, with evidence.

It is made from digests and candidate patterns; a model, if configured, words it. It is stored in the self state as a
new version, beside everything else there.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from engram.clock import to_datetime
from engram.dream.novelty import Novelty, find_novelty, load_facts, strip_error
from engram.dream.results import StepResult
from engram.hub import Hub
from engram.platform import text
from engram.platform.value import value
from engram.store import dream_inbox, patterns
from engram.summaries import self_state
from engram.summaries.summary_model import SummaryModel

if TYPE_CHECKING:
    from engram.store.engine import Row

_RULES = "rules/1"
_LISTS = ("went_well", "keeps_failing", "open", "questions")
_MOST = {"went_well": 4, "keeps_failing": 4, "open": 5, "questions": 3}
_EVIDENCE = 5  # sessions cited for one item
_LINE = 200
_SUCCESSES = ("short-path", "passing-sequence")


@value
class ReflectionItem:
    """One statement of a reflection, with its source sessions."""

    text: str
    sessions: tuple[str, ...]


def run_reflection(hub: Hub, _: Callable[[], bool]) -> StepResult:
    """Reflect on what is new since the last time, and save it in the self state."""
    novelty = find_novelty(hub)
    new_reflection = build_reflection(hub, novelty) if novelty.rows else None
    with hub.engine.transaction(durable=True):
        if new_reflection is not None:
            save_reflection(hub, new_reflection)
        for row in novelty.seen:
            dream_inbox.mark_done(hub.engine, dream_inbox.REFLECT, row)
    left = dream_inbox.count_waiting(hub.engine, dream_inbox.REFLECT)
    return StepResult(
        step="reflect",
        did=f"reflected on {text.format_count(len(novelty.rows), 'session')}",
        count=len(novelty.rows),
        left=left,
    )


def build_reflection(hub: Hub, novelty: Novelty) -> dict[str, Any]:
    """Build a reflection on what is new."""
    parts = {
        "went_well": _list_successes(novelty),
        "keeps_failing": _list_failures(hub, novelty),
        "open": _list_open_items(novelty),
        "questions": _list_questions(hub, novelty),
    }
    sections: dict[str, Any] = {name: [vars(item) for item in items[: _MOST[name]]] for name, items in parts.items()}
    narrative, made_by = _write_narrative(novelty, parts), _RULES
    answer = SummaryModel(hub).ask("reflect", _render_for_model(parts, narrative), "narrative", _LISTS)
    if answer is not None:
        session_ids = sorted(row["session_id"] for row in novelty.rows)[:_EVIDENCE]
        narrative, made_by = answer.data["narrative"], answer.made_by
        sections = {
            name: [
                {"text": item, "sessions": _find_sessions_behind(item, parts[name]) or session_ids}
                for item in answer.data[name][: _MOST[name]]
            ]
            for name in _LISTS
        }  # fmt: skip
    at = to_datetime(hub.now()).isoformat(timespec="seconds")
    return {
        "at": at,
        "sessions": sorted(row["session_id"] for row in novelty.rows),
        "narrative": narrative,
        "made_by": made_by,
        **sections,
    }


def save_reflection(hub: Hub, reflection: dict[str, Any]) -> None:
    """Save a reflection in the self state in place of the last one; everything else stays."""
    self_state.update_state(hub, {"reflection": reflection}, reflection["made_by"], reflection["sessions"])


def _format_place(row: Row) -> str:
    project = os.path.basename(str(row["project"] or ""))
    return f"{row['flavor']}{f' in {project}' if project else ''}"


def _format_goal(row: Row) -> str:
    return text.escape_inline(str(load_facts(row).get("goal") or "a session"), 100)


def _list_successes(novelty: Novelty) -> list[ReflectionItem]:
    """Return the successful sessions, the most certain first."""
    good = sorted((row for row in novelty.rows if row["outcome"] == "success"), key=lambda row: -row["confidence"])
    return [
        ReflectionItem(f"{_format_place(row)}: {_format_goal(row)}{_format_evidence(row)}", (row["session_id"],))
        for row in good
    ]


def _format_evidence(row: Row) -> str:
    evidence = load_facts(row).get("evidence") or []
    return f" ({text.escape_inline(str(evidence[0]), 60)})" if evidence else ""


def _list_failures(hub: Hub, novelty: Novelty) -> list[ReflectionItem]:
    """Return problems of several sessions, including new ones; then errors the new ones left open."""
    rows_by_pattern: dict[str, list[Row]] = {}
    for row in patterns.list_by_sessions(hub.engine, [row["session_id"] for row in novelty.rows]):
        if row["kind"] not in _SUCCESSES:
            rows_by_pattern.setdefault(row["id"], []).append(row)
    items = [
        ReflectionItem(
            f"{text.escape_inline(rows[0]['title'], _LINE)} ({text.format_count(rows[0]['sessions'], 'session')})",
            tuple(row["session_id"] for row in rows[:_EVIDENCE]),
        )
        for rows in rows_by_pattern.values()
    ]
    bad = [row for row in novelty.rows if row["outcome"] in ("failure", "abandoned")]
    open_errors = [
        (text.escape_inline(strip_error(raw_error), 120), row)
        for row in bad
        for raw_error in load_facts(row).get("errors", ())[:1]
    ]
    items += [ReflectionItem(f"{_format_place(row)}: {error}", (row["session_id"],)) for error, row in open_errors]
    return _unique_items(items)


def _list_open_items(novelty: Novelty) -> list[ReflectionItem]:
    """Return what was left to do, newest first."""
    open_items = [
        (row, item) for row in novelty.rows for item in load_facts(row).get("open", ())[:2] if _is_meaningful(item)
    ]
    return _unique_items(
        [
            ReflectionItem(f"{_format_place(row)}: {text.escape_inline(str(item), 140)}", (row["session_id"],))
            for row, item in open_items
        ]
    )


def _list_questions(hub: Hub, novelty: Novelty) -> list[ReflectionItem]:
    """Return questions the user could answer in a word."""
    questions = [
        ReflectionItem(f"How can this be avoided: {entry.text}?", entry.sessions)
        for entry in _list_failures(hub, novelty)[:1]
    ]
    for row in novelty.rows:
        if row["outcome"] == "abandoned" and _is_meaningful(load_facts(row).get("goal")):
            questions.append(
                ReflectionItem(
                    f"Is this still needed: {_format_goal(row)} ({_format_place(row)})?", (row["session_id"],)
                )
            )
        for entry in load_facts(row).get("corrections", ())[-1:]:
            words = f"You corrected: {text.escape_inline(str(entry), 120)}. Should that be a rule?"
            questions.append(ReflectionItem(words, (row["session_id"],)))
    return _unique_items(questions)


def _is_meaningful(words: object) -> bool:
    """Tell a task from a greeting or a slash command."""
    return isinstance(words, str) and len(words.split()) >= 4 and not words.startswith("/")


def _unique_items(items: list[ReflectionItem]) -> list[ReflectionItem]:
    return list({item.text: item for item in reversed(items)}.values())[::-1]


def _write_narrative(novelty: Novelty, parts: dict[str, list[ReflectionItem]]) -> str:
    """Return a summary of how the work went, with counts and quotes."""
    outcomes = Counter(row["outcome"] for row in novelty.rows)
    counts_by_place = Counter(_format_place(row) for row in novelty.rows)
    place_counts = ", ".join(f"{place} {count}" for place, count in counts_by_place.most_common(4))
    outcome_counts = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common())
    lines = [(f"I reviewed {text.format_count(len(novelty.rows), 'new session')} ({place_counts}): {outcome_counts}.")]
    if novelty.surprising:
        lines.append(f"{len(novelty.surprising)} had an unusual outcome for their project.")
    for name, words in (("keeps_failing", "Keeps failing"), ("open", "Still open")):
        if parts[name]:
            lines.append(f"{words}: {parts[name][0].text}.")
    return " ".join(lines)


def _render_for_model(parts: dict[str, list[ReflectionItem]], narrative: str) -> str:
    """Render the facts for the model's prompt."""
    lines = [narrative]
    for name, items in parts.items():
        lines += [f"{name}:", *(f"- {item.text}" for item in items[:12])]
    return text.cut_to_tokens("\n".join(lines), 4000)


def _find_sessions_behind(statement: str, items: list[ReflectionItem]) -> list[str]:
    """Return the sessions behind an item as the model worded it: those of the fact that shares most words with it."""
    words = set(statement.lower().split())
    best = max(items, key=lambda item: len(words & set(item.text.lower().split())), default=None)
    if best is None or len(words & set(best.text.lower().split())) < 3:
        return []
    return list(best.sessions)
