"""The child process: sweep until killed, and acknowledge each sweep on disk."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engram import Engram
from engram.agents.transcripts.registry import load_adapters

load_adapters()  # once for all sweepers, in the server that forks them

# Small enough that nearly every sweep has to evict.
CAPS = {"ENGRAM_RAW_SOFT_CAP_BYTES": "30000", "ENGRAM_RAW_HARD_CAP_BYTES": "60000"}

_HELD = "select s.native_id, c.events from captures c join sessions s on s.id = c.session_id"


@dataclass(frozen=True)
class Place:
    """The directories and the store of a run."""

    user: str  # home directory with the transcripts
    home: str
    store: str

    @property
    def acknowledged(self) -> Path:
        return Path(self.home).parent / "acknowledged.jsonl"

    def open(self) -> Engram:
        """Open the store with small caps."""
        os.environ.update({**CAPS, "HOME": self.user, "ENGRAM_HOME": self.home})
        return Engram(store=self.store, home=self.home)


def sweep_until_killed(place: Place) -> None:
    """Ingest in a loop until this process is killed or the parent exits."""
    parent = os.getppid()
    file = os.open(place.acknowledged, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with place.open() as engram:
        while os.getppid() == parent:
            result = engram.ingest()
            _acknowledge(file, {"events": result.events, "held": held(engram)})
            time.sleep(0 if result.events else 0.002)


def held(engram: Engram) -> dict[str, int]:
    """Return the number of captured events of each session, including evicted ones."""
    return {row["native_id"]: row["events"] for row in engram.engine.run(_HELD)}


def _acknowledge(file: int, facts: dict[str, Any]) -> None:
    os.write(file, (json.dumps(facts) + "\n").encode())
    os.fsync(file)
