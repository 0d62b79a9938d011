"""Kill a sweep at random moments, a thousand times, and prove after each that nothing acknowledged is lost.

A child process takes in a growing home of Claude transcripts again and again, under so small a budget that every
sweep also evicts. After each sweep it acknowledges, on the disk, how much of every session the store holds. The
parent lets the transcripts grow meanwhile, kills the child, opens what it left behind and holds it against what it
wrote into the transcripts itself: the product's own counts are judged, never trusted.

python -m benchmarks.torture --kills 1000 [--seed 1] [--store postgresql://…] [--json]
"""

from __future__ import annotations

from benchmarks.torture.nemesis import Summary, report, torture

__all__ = ["Summary", "report", "torture"]
