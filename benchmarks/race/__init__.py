"""Let processes compete for the same locks, kill and stop some, and check their histories for violations.

Every racer writes its calls and their results to a file, with times from a monotonic clock. Meanwhile a nemesis kills
racers and stops others for longer than their locks last. Afterwards a checker reads the histories. It decides by brute
force over the few files of the tree which locks overlap, not with Engram's own code. A call takes effect at some time
between its start and its return, so the checker reports a violation only if no such time can explain the result.

python -m benchmarks.race --processes 8 --rounds 1000 [--store postgresql://…] [--no-nemesis] [--json]
"""

from __future__ import annotations

from benchmarks.race.clock import ENDLESS, SECOND
from benchmarks.race.course import WISHES, Wish, build, truth
from benchmarks.race.nemesis import environment
from benchmarks.race.racer import Race
from benchmarks.race.rules import check, refusals
from benchmarks.race.story import GONE, Call, Life, Story, Takeover
from benchmarks.race.summary import hold_race

__all__ = [
    "ENDLESS",
    "GONE",
    "SECOND",
    "WISHES",
    "Call",
    "Life",
    "Race",
    "Story",
    "Takeover",
    "Wish",
    "build",
    "check",
    "environment",
    "hold_race",
    "refusals",
    "truth",
]
