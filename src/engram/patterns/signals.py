"""Extract the signals of a session from its events, or from its digest if the bodies are gone."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from engram.patterns import (
    signals_commands,
    signals_facts,
    signals_files,
    signals_fixes,
    signals_people,
    signals_session,
    signals_standing,
    signals_tools,
)
from engram.patterns.signal import Signal
from engram.patterns.steps import SessionTrace

_DETECTORS: tuple[Callable[[SessionTrace], Iterator[Signal]], ...] = (
    signals_commands.find_failing_commands,
    signals_commands.find_errors,
    signals_commands.find_passing_sequences,
    signals_files.find_rereads,
    signals_files.find_reedits,
    signals_files.find_test_loops,
    signals_files.find_reverts,
    signals_tools.find_misuses,
    signals_tools.find_denials,
    signals_tools.find_blowups,
    signals_people.find_corrections,
    signals_people.find_interrupts,
    signals_fixes.find_known_fixes,
    signals_standing.find_standing_rules,
)
_END_DETECTORS = (signals_session.find_abandoned, signals_session.find_wasted_tokens, signals_session.find_short_path)


def detect_signals(trace: SessionTrace, *, is_over: bool = True) -> list[Signal]:
    """Return the signals of a trace; signals about its end only once it is over."""
    detectors = (
        *_DETECTORS,
        *(_END_DETECTORS if is_over else ()),
        *(() if trace.is_complete else (signals_facts.find_fact_signals,)),
    )
    signals_by_key: dict[tuple[str, str], Signal] = {}
    for detect in detectors:
        for found_signal in detect(trace):
            if found_signal.fingerprint:
                signals_by_key.setdefault((found_signal.kind, found_signal.fingerprint), found_signal)
    return list(signals_by_key.values())
