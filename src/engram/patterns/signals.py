"""The signals of a session: from what happened in it, and from its digest where that is all that is left."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from engram.hub import Hub
from engram.patterns import (
    signals_commands,
    signals_facts,
    signals_files,
    signals_people,
    signals_session,
    signals_tools,
)
from engram.patterns.signal import Signal
from engram.patterns.steps import Story, story

_DETECTORS: tuple[Callable[[Story], Iterator[Signal]], ...] = (
    signals_commands.failing_commands,
    signals_commands.errors,
    signals_commands.passing_sequences,
    signals_files.rereads,
    signals_files.reedits,
    signals_files.test_loops,
    signals_files.reverts,
    signals_tools.misuses,
    signals_tools.denials,
    signals_tools.blowups,
    signals_people.corrections,
    signals_people.interrupts,
)
_AT_THE_END = (signals_session.abandoned, signals_session.wasted, signals_session.short_path)


def extract(hub: Hub, session_id: str) -> list[Signal]:
    """Return the signals of a session; none of one that was never captured."""
    told = story(hub, session_id)
    return signals_of(told) if told else []


def signals_of(told: Story, *, over: bool = True) -> list[Signal]:
    """Return the signals of a story; how it ended says something only once it is over."""
    detectors = (*_DETECTORS, *(_AT_THE_END if over else ()), *(() if told.whole else (signals_facts.from_facts,)))
    found: dict[tuple[str, str], Signal] = {}
    for detect in detectors:
        for each in detect(told):
            if each.fingerprint:
                found.setdefault((each.kind, each.fingerprint), each)
    return list(found.values())
