"""Watching takes in what comes, when it comes."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from engram import Engram
from engram.capture.watch import watch
from tests.capture.transcripts import Claude


def test_a_line_written_while_watching_is_captured(tmp_path: Path, home: Path) -> None:
    work = Claude(home)
    work.says("One")
    with Engram(tmp_path / "store") as engram:
        sweeps = watch(engram)
        assert next(sweeps).events == 1
        threading.Timer(0.5, lambda: work.says("Two")).start()
        before = time.process_time()
        assert next(sweeps).events == 1
        assert time.process_time() - before < 0.4  # it slept; wall time says nothing
        sweeps.close()
        (hit,) = engram.recall("Two")
        assert hit.role == "user"
