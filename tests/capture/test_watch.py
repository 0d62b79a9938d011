"""Watching ingests changes as they happen."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from engram import Engram
from engram.capture.sweep_lock import SweepLock
from engram.capture.watch import watch_transcripts
from tests.capture.transcripts import Claude


def test_a_line_written_while_watching_is_captured(tmp_path: Path, home: Path) -> None:
    work = Claude(home)
    work.says("One")
    with Engram(tmp_path / "store") as engram:
        sweeps = watch_transcripts(engram)
        assert next(sweeps).events == 1
        threading.Timer(0.5, lambda: work.says("Two")).start()
        before = time.process_time()
        assert next(sweeps).events == 1
        assert time.process_time() - before < 0.4  # it slept; wall time proves nothing
        sweeps.close()
        (hit,) = engram.recall("Two")
        assert hit.role == "user"


def test_a_sweep_that_runs_already_does_not_keep_anyone_from_watching(tmp_path: Path, home: Path) -> None:
    work = Claude(home)
    work.says("One")
    other = SweepLock(str(tmp_path / "store"))
    with Engram(tmp_path / "store") as engram:
        other.__enter__()

        def end() -> None:
            other.__exit__(None, None, None)
            work.says("Two")

        threading.Timer(1, end).start()
        sweeps = watch_transcripts(engram)
        assert next(sweeps).events == 2
        sweeps.close()


def test_a_store_that_was_busy_is_tried_again_with_the_next_change(tmp_path: Path, home: Path) -> None:
    first, second = Claude(home), Claude(home)
    first.says("One")
    with Engram(tmp_path / "store", busy_seconds=1) as engram:
        sweeps = watch_transcripts(engram)
        next(sweeps)
        blocker = threading.Thread(target=write_while_busy, args=(tmp_path / "store", first, second))
        blocker.start()
        found = 0
        while found < 2:
            found += next(sweeps).events
        blocker.join()
        sweeps.close()
        assert engram.recall("Two")
        assert engram.recall("Three")


def write_while_busy(store: Path, first: Claude, second: Claude) -> None:
    """Hold the store for longer than a sweep waits, write, release it, and write again."""
    with Engram(store) as other:
        time.sleep(0.5)
        with other.engine.transaction():
            first.says("Two")
            time.sleep(3)
        second.says("Three")
