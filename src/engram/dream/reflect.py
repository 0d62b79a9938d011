"""Reflection: what went well, what keeps failing, what is open, what to ask; in the first person, with its evidence.

Made of digests and candidate patterns; a model, where one may be asked, words it. It becomes part of the self state, a
new version each time, beside whatever else that holds.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from engram import text
from engram.clock import moment
from engram.dream.done import Done
from engram.dream.novelty import Novelty, error_of, facts, since_reflection
from engram.hub import Hub
from engram.memory import self_state
from engram.memory.thinker import Thinker
from engram.store import news, patterns
from engram.value import value

if TYPE_CHECKING:
    from engram.store.engine import Row

_RULES = "rules/1"
_LISTS = ("went_well", "keeps_failing", "open", "questions")
_MOST = {"went_well": 4, "keeps_failing": 4, "open": 5, "questions": 3}
_EVIDENCE = 5  # sessions named for one item
_LINE = 200
_SUCCESSES = ("short-path", "passing-sequence")


@value
class Item:
    """One thing a reflection says, and the sessions that say so."""

    text: str
    sessions: tuple[str, ...]


def step(hub: Hub, _: Callable[[], bool]) -> Done:
    """Reflect on what came since the last time, and let the self state say so."""
    found = since_reflection(hub)
    thought = reflection(hub, found) if found.rows else None
    with hub.engine.transaction(durable=True):
        if thought is not None:
            evolve(hub, thought)
        for row in found.seen:
            news.settle(hub.engine, news.REFLECT, row)
    left = news.count(hub.engine, news.REFLECT)
    return Done(
        step="reflect", did=f"reflected on {text.counted(len(found.rows), 'session')}", count=len(found.rows), left=left
    )


def reflection(hub: Hub, found: Novelty) -> dict[str, Any]:
    """Return what is to be said of what is new."""
    parts = {
        "went_well": _went_well(found), "keeps_failing": _failing(hub, found), "open": _open(found),
        "questions": _questions(hub, found),
    }  # fmt: skip
    said: dict[str, Any] = {name: [vars(each) for each in items[: _MOST[name]]] for name, items in parts.items()}
    narrative, made_by = _narrative(found, parts), _RULES
    thought = Thinker(hub).ask("reflect", _told(parts, narrative), "narrative", _LISTS)
    if thought is not None:
        named = sorted(row["session_id"] for row in found.rows)[:_EVIDENCE]
        narrative, made_by = thought.data["narrative"], thought.made_by
        said = {
            name: [
                {"text": each, "sessions": _behind(each, parts[name]) or named}
                for each in thought.data[name][: _MOST[name]]
            ]
            for name in _LISTS
        }  # fmt: skip
    at = moment(hub.now()).isoformat(timespec="seconds")
    return {"at": at, "sessions": sorted(row["session_id"] for row in found.rows), "narrative": narrative,
            "made_by": made_by, **said}  # fmt: skip


def evolve(hub: Hub, thought: dict[str, Any]) -> None:
    """Let the self state hold a reflection, in place of the last one; all else in it stays."""
    self_state.change(hub, {"reflection": thought}, thought["made_by"], thought["sessions"])


def _where(row: Row) -> str:
    project = os.path.basename(str(row["project"] or ""))
    return f"{row['flavor']}{f' in {project}' if project else ''}"


def _goal(row: Row) -> str:
    return text.inline(str(facts(row).get("goal") or "a session"), 100)


def _went_well(found: Novelty) -> list[Item]:
    """Return the sessions that ended well, the surest first."""
    good = sorted((row for row in found.rows if row["outcome"] == "success"), key=lambda row: -row["confidence"])
    return [Item(f"{_where(row)}: {_goal(row)}{_because(row)}", (row["session_id"],)) for row in good]


def _because(row: Row) -> str:
    told = facts(row).get("evidence") or []
    return f" ({text.inline(str(told[0]), 60)})" if told else ""


def _failing(hub: Hub, found: Novelty) -> list[Item]:
    """Return what went wrong in several sessions, with the new ones among them; then errors the new ones left open."""
    met: dict[str, list[Row]] = {}
    for row in patterns.met_in(hub.engine, [row["session_id"] for row in found.rows]):
        if row["kind"] not in _SUCCESSES:
            met.setdefault(row["id"], []).append(row)
    items = [
        Item(f"{text.inline(rows[0]['title'], _LINE)} ({rows[0]['sessions']} sessions)",
             tuple(row["session_id"] for row in rows[:_EVIDENCE]))
        for rows in met.values()
    ]  # fmt: skip
    bad = [row for row in found.rows if row["outcome"] in ("failure", "abandoned")]
    left = [(text.inline(error_of(each), 120), row) for row in bad for each in facts(row).get("errors", ())[:1]]
    items += [Item(f"{_where(row)}: {said}", (row["session_id"],)) for said, row in left]
    return _once(items)


def _open(found: Novelty) -> list[Item]:
    """Return what was left to do, the newest first."""
    told = [(row, each) for row in found.rows for each in facts(row).get("open", ())[:2] if _says_something(each)]
    return _once([Item(f"{_where(row)}: {text.inline(str(each), 140)}", (row["session_id"],)) for row, each in told])


def _questions(hub: Hub, found: Novelty) -> list[Item]:
    """Return what a person could settle in a word."""
    asked = [Item(f"What helps against this: {each.text}?", each.sessions) for each in _failing(hub, found)[:1]]
    for row in found.rows:
        if row["outcome"] == "abandoned" and _says_something(facts(row).get("goal")):
            asked.append(Item(f"Is this still wanted: {_goal(row)} ({_where(row)})?", (row["session_id"],)))
        for each in facts(row).get("corrections", ())[-1:]:
            words = f"You corrected: {text.inline(str(each), 120)}. Should that be a rule?"
            asked.append(Item(words, (row["session_id"],)))
    return _once(asked)


def _says_something(words: object) -> bool:
    """Tell a thing to do from a greeting or a command of the agent program."""
    return isinstance(words, str) and len(words.split()) >= 4 and not words.startswith("/")


def _once(items: list[Item]) -> list[Item]:
    return list({item.text: item for item in reversed(items)}.values())[::-1]


def _narrative(found: Novelty, parts: dict[str, list[Item]]) -> str:
    """Return how the work went, counted and quoted."""
    ends = Counter(row["outcome"] for row in found.rows)
    places = Counter(_where(row) for row in found.rows)
    named = ", ".join(f"{place} {count}" for place, count in places.most_common(4))
    told = ", ".join(f"{count} {outcome}" for outcome, count in ends.most_common())
    lines = [f"I looked at {text.counted(len(found.rows), 'session')} I had not thought about ({named}): {told}."]
    if found.surprising:
        lines.append(f"{len(found.surprising)} ended otherwise than is usual there.")
    for name, words in (("keeps_failing", "What keeps failing"), ("open", "What is open")):
        if parts[name]:
            lines.append(f"{words}: {parts[name][0].text}.")
    return " ".join(lines)


def _told(parts: dict[str, list[Item]], narrative: str) -> str:
    """Return the facts as a model is given them."""
    lines = [narrative]
    for name, items in parts.items():
        lines += [f"{name}:", *(f"- {each.text}" for each in items[:12])]
    return text.cut("\n".join(lines), 4000)


def _behind(said: str, items: list[Item]) -> list[str]:
    """Return the sessions behind an item as a model worded it: those of the fact it shares most words with."""
    words = set(said.lower().split())
    best = max(items, key=lambda each: len(words & set(each.text.lower().split())), default=None)
    if best is None or len(words & set(best.text.lower().split())) < 3:
        return []
    return list(best.sessions)
