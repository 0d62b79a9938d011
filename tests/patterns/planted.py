"""The labelled set: every plot for every agent, several times.

The labels say what was planted; they do not come from the code under test.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.patterns import lookalikes, plots, plots_more
from tests.patterns.plots import compaction
from tests.patterns.writers import WRITERS, Claude, Codex

Plot = Callable[[Any, int], set[str]]


def _plots(*modules: Any) -> tuple[Plot, ...]:
    """Return the plots of a module: all public functions that take a writer and a number."""
    skipped = ("begin", "end")
    return tuple(
        var
        for module in modules
        for name, var in vars(module).items()
        if callable(var) and not name.startswith("_") and name not in skipped and name[0].islower()
    )


PLANTED = _plots(plots, plots_more)
LOOKALIKES = _plots(lookalikes)


def write_all(home: Path, rounds: int = 5) -> dict[str, set[str]]:
    """Write every plot for every agent, several times; return the expected signals by the agent's session id."""
    labels: dict[str, set[str]] = {}
    for writer in WRITERS:
        for plot in (*PLANTED, *LOOKALIKES):
            if plot is compaction and writer not in (Claude, Codex):
                continue  # its transcripts do not contain this
            for n in range(rounds):
                number = n + rounds * WRITERS.index(writer)
                user = ("me", "ann", "bo")[n % 3]
                made = writer(home, f"{writer.__name__}-{plot.__name__}-{n}", f"/home/{user}/work{n}/app")
                labels[made.session] = plot(made, number)
    return labels
