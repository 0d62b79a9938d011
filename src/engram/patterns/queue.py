"""Choose which patterns wait for a person's decision: only those a person would make a rule of.

What merely happens is a statistic: an interruption, a compacted context, a file that is edited often, commands that
pass together, an error whose fix nobody knows. Its signals are counted, but it is not in the queue.
"""

from __future__ import annotations

from engram.patterns import rank
from engram.patterns.command_replacements import READ_COMMANDS
from engram.patterns.tool_misuse import LEADS_TO_RULE
from engram.store import patterns, rules, signals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engram.hub import Hub
    from engram.store.engine import Row

IMPORTED = "imported "  # beginning of the seed of a pattern that was imported
_LOOKED_AT = 3  # times the number of candidates shown, to have enough after folding
_USER_REFUSED = ("You did not allow", "A person", "Ask before")  # titles of this and of older versions
_ALWAYS = ("known-fix", "correction", "standing-rule")


def is_worth_rule(row: Row) -> bool:
    """Return whether a person would make a rule of a pattern, or already worked on it."""
    kind, seed = row["kind"], row["seed"]
    if row["version"] or row["recommended"] or seed.startswith(IMPORTED):
        return True
    if kind == "tool-misuse":
        return str(seed).partition(": ")[2] in LEADS_TO_RULE
    if kind == "denied":
        return str(seed).startswith("run ") and str(row["title"]).startswith(_USER_REFUSED)
    if kind == "context-blowup":
        return _names_command(seed)
    return kind in _ALWAYS


def _names_command(seed: str) -> bool:
    """Return whether a large output came from a command that does more than print a file."""
    source = seed.removeprefix("output of ")
    return source not in (seed, "reading a file", "a command", "a tool") and not set(source.split()) & READ_COMMANDS


def choose_candidates(
    hub: Hub, ranked: Sequence[Row], limit: int, *, statistics: bool = False
) -> tuple[list[tuple[Row, list[str]]], dict[str, list[Row]], int]:  # fmt: skip
    """Return the best candidates with those found in the same events, their signals, and how many more there are."""
    rows = list(ranked) if statistics else [row for row in ranked if is_worth_rule(row)]
    first = rows[: limit * _LOOKED_AT]
    signals_by_pattern = signals.list_newest(hub.engine, {row["id"]: row["signals"] for row in first})
    known = [row for row in first if row["id"] in signals_by_pattern or not row["signals"]]
    groups = rank.group_same_events(known, signals_by_pattern, _list_decided_events(hub) if not statistics else ())
    chosen = groups[:limit]
    folded = sum(len(also) for _, also in chosen) + len(known) - sum(1 + len(also) for _, also in groups)
    return chosen, signals_by_pattern, max(0, len(rows) - len(chosen) - folded)


def _list_decided_events(hub: Hub) -> Iterable[set[int]]:
    """Return the events of each pattern a person decided about: another name for them is no new candidate."""
    counts = {row["id"]: row["signals"] for row in rules.list_decided(hub.engine) if row["state"] != patterns.MERGED}
    return [rank.collect_events(rows) for rows in signals.list_newest(hub.engine, counts).values()]
