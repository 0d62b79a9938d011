"""A process killed while it writes or removes rules leaves nothing half done: the next run completes it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from engram import Engram
from tests.patterns.planting import pattern, session
from tests.patterns.rules.test_distribute import home, tree

__all__ = ["home"]
_DYING = str(Path(__file__).with_name("dying.py"))
_PEOPLE = b"# Mine\n\nwords"


def killed(number: int, when: str, *undo: str) -> None:
    command = [sys.executable, _DYING, os.environ["ENGRAM_HOME"], str(number), when, *undo]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL


def prepared(engram: Engram, home: Path) -> dict[str, bytes | None]:
    """Approve more rules than a file has room for, next to a person's text; return the files before."""
    (home / ".codex/AGENTS.md").write_bytes(_PEOPLE)
    before = tree(home)
    for n in range(12):
        id_ = pattern(engram, f"long{n}", seen=[session(engram, f"s{n}")])
        engram.approve_pattern(id_, f"{n} " + "word " * 110)
    return before


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_killed_distribute_is_finished_or_taken_back(home: Path, number: int, when: str) -> None:
    with Engram(os.environ["ENGRAM_HOME"]) as engram:
        before = prepared(engram, home)
        killed(number, when)
        for path, held in tree(home).items():
            said = b"" if held is None or path.endswith(".lock") else held
            assert said.count(b"engram:begin patterns") == said.count(b"engram:end patterns")
        engram.distribute(undo=True)
        assert tree(home) == before
        engram.distribute(files=True)
        assert not engram.distribute(files=True).files


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_killed_undo_is_finished_by_the_next(home: Path, number: int, when: str) -> None:
    with Engram(os.environ["ENGRAM_HOME"]) as engram:
        before = prepared(engram, home)
        engram.distribute(files=True)
        killed(number, when, "undo")
        engram.distribute(undo=True)
        assert tree(home) == before
