"""Kill an ingest process at random times, a thousand times, and check after each that nothing acknowledged is lost.

A child process repeatedly ingests growing Claude transcripts, with a budget so small that every sweep also evicts.
After each sweep it writes to disk how many events of every session the store has. Meanwhile the parent extends the
transcripts, kills the child, opens the store and compares it with what it wrote to the transcripts. It does not rely on
Engram's own counts.

python -m benchmarks.torture --kills 1000 [--seed 1] [--store postgresql://…] [--json]
"""

from __future__ import annotations

from benchmarks.torture.nemesis import Summary, report, torture

__all__ = ["Summary", "report", "torture"]
