"""The record of what was written: lost, unwritable, and its effects."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from engram import Engram
from engram.errors import ConfigRefused, StoreUnavailable
from engram.install import launcher
from engram.platform.file_edit import read_file


def test_without_the_record_the_launcher_stays_while_an_agent_calls_it(crowded: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Engram(home) as engram:
        engram.init(agents=["claude", "gemini"])
        (home / "wiring" / "written.json").unlink()
        engram.uninit(agents=["claude"])
        assert os.path.exists(launcher.get_launcher_path(str(home)))
        engram.uninit(agents=["gemini"])
    assert not os.path.exists(launcher.get_launcher_path(str(home)))


def test_a_home_that_cannot_be_written_to_is_said_and_nothing_is_changed(crowded: Path, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "wiring").write_text("in the way")
    before = (crowded / ".gemini" / "settings.json").read_bytes()
    with Engram(tmp_path / "home") as engram, pytest.raises(StoreUnavailable, match="run this again"):
        engram.init(agents=["gemini"])
    assert (crowded / ".gemini" / "settings.json").read_bytes() == before


def test_a_pipe_in_the_place_of_settings_keeps_nobody_waiting(home: Path) -> None:
    os.mkfifo(home / "settings.json")
    found: list[Exception] = []

    def look() -> None:
        try:
            read_file(str(home / "settings.json"))
        except ConfigRefused as refusal:
            found.append(refusal)

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    looking.join(20)
    assert [str(each).partition(": ")[2] for each in found] == ["it is a pipe, not a file."]
