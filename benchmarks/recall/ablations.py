"""What each part of recall is worth: the same questions with one part switched off.

The product has no switch for this. The one place that may reach into it is `ablations` below.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.recall.systems import System


def ablations() -> Sequence[System]:
    """Return Engram once for each part that can be switched off, named after what is missing ("engram - vectors").

    Each is a `systems.Ours` that overrides `search` and calls the inner search with other weights; `prepare`, the
    questions and the tables stay the same. An empty answer means that there is nothing to switch off yet.
    """
    return ()
