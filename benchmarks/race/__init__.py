"""Race real processes for the same locks, hurt them, and prove from their histories that no rule was broken.

Every racer writes what it asked and what it was told into a file of its own, stamped with a clock that
never jumps. Meanwhile a nemesis kills racers and stops others for longer than their locks last. When all
is over a checker reads the histories. What overlaps what it decides by brute force over the few files of
the race's tree, not by the product's own rules. An act is known to have happened somewhere between call
and return, so the checker complains only where no moment in between could excuse what it sees.

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
