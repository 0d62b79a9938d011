"""How long hooks take, by agent and event."""

from __future__ import annotations

from engram import Engram
from engram.install.hook_times import HookTimes
from engram.store import hook_log


def fired(engram: Engram, flavor: str, event: str, *milliseconds: float, problem: str = "") -> None:
    for millisecond in milliseconds:
        hook_log.write_entry(engram.settings.home, flavor, event, millisecond / 1000, problem)


def found(engram: Engram) -> dict[tuple[str, str], HookTimes]:
    return {(time.flavor, time.event): time for time in engram.hook_times()}


def test_each_agent_and_event_has_its_own_times(engram: Engram) -> None:
    assert engram.hook_times() == []
    fired(engram, "codex", "Stop", 5)
    fired(engram, "claude", "Stop", *range(1, 101))
    fired(engram, "claude", "SessionStart", 40, 20)
    assert list(found(engram)) == [("claude", "SessionStart"), ("claude", "Stop"), ("codex", "Stop")]
    stop = found(engram)["claude", "Stop"]
    assert (stop.calls, stop.p50, stop.p95, stop.longest, stop.failures) == (100, 51, 96, 100, 0)
    assert stop.last_at is not None


def test_only_the_last_calls_count(engram: Engram) -> None:
    fired(engram, "claude", "Stop", *[900] * 50, *[10] * 200)
    stop = found(engram)["claude", "Stop"]
    assert (stop.calls, stop.longest) == (200, 10)


def test_a_failure_is_told_with_its_last_reason(engram: Engram) -> None:
    fired(engram, "claude", "Stop", 1, problem="StoreBusy: first")
    fired(engram, "claude", "Stop", 1, problem="StoreBusy: second")
    fired(engram, "claude", "Stop", 1)
    stop = found(engram)["claude", "Stop"]
    assert (stop.calls, stop.failures, stop.problem) == (3, 2, "StoreBusy: second")
    assert stop.failed_at is not None
