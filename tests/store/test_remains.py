"""A home whose database is gone is never mistaken for a new one, and a repair never deletes a body."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from engram import Engram, RepairRefused, StoreMissing
from engram.store import blobs
from tests.capture.test_check import keep
from tests.capture.transcripts import Claude


@pytest.fixture
def filled(home: Path, tmp_path: Path) -> Path:
    """A home with one captured session, closed."""
    place = tmp_path / "filled"
    with Engram(place) as engram:
        Claude(home).says("Build the flywheel")
        engram.ingest()
    return place


def _lose_database(place: Path) -> None:
    for path in place.glob("engram.db*"):
        path.unlink()


def _files(place: Path) -> set[Path]:
    return {path for path in place.rglob("*") if path.is_file()}


@pytest.mark.parametrize("left", ["bodies", "quarantine", "wiki", "spool"])
def test_a_home_without_its_database_is_an_error_and_gets_no_new_one(tmp_path: Path, left: str) -> None:
    place = tmp_path / "home"
    remains = {
        "bodies": "blobs/a/bc.zst", "quarantine": "quarantine/a/bc.zst", "wiki": "wiki/daily/2026-11-01.md",
        "spool": "spool/claude-1.json",
    }  # fmt: skip
    path = place / remains[left]
    path.parent.mkdir(parents=True)
    path.write_text("precious")
    with pytest.raises(StoreMissing) as refused:
        Engram(place)
    assert str(place / "engram.db") in str(refused.value)
    assert _files(place) == {path}


def test_an_emptied_database_is_as_good_as_a_missing_one(filled: Path) -> None:
    _lose_database(filled)
    (filled / "engram.db").touch()
    with pytest.raises(StoreMissing, match="empty"):
        Engram(filled)
    assert (filled / "engram.db").stat().st_size == 0


def _engram(home: Path, *words: str, text: str = "") -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "ENGRAM_HOME": str(home)}
    command = [sys.executable, "-m", "engram", *words]
    return subprocess.run(command, env=env, input=text, capture_output=True, text=True, check=False)


def test_the_command_line_reports_what_happened_and_what_to_do(filled: Path) -> None:
    _lose_database(filled)
    before = _files(filled)
    for words in (["sitrep"], ["check", "--repair"], ["ingest"]):
        done = _engram(filled, *words)
        assert done.returncode == 1
        assert "Put the database back" in done.stderr
    assert _files(filled) >= before
    assert not (filled / "engram.db").exists()


def test_a_hook_that_is_the_first_to_meet_a_new_home_does_not_spoil_it(tmp_path: Path) -> None:
    event = '{"session_id": "s1", "transcript_path": "/none.jsonl", "cwd": "/", "hook_event_name": "Stop"}'
    assert _engram(tmp_path / "new", "hook", "claude", text=event).returncode == 0
    assert _engram(tmp_path / "new", "sitrep").returncode == 0


def test_a_copy_made_before_an_upgrade_is_offered(filled: Path) -> None:
    (filled / "engram.db").rename(filled / "engram.db.before-upgrade")
    with pytest.raises(StoreMissing, match=r"engram\.db\.before-upgrade"):
        Engram(filled)


def test_a_new_home_with_settings_and_logs_is_not_a_lost_one(tmp_path: Path) -> None:
    place = tmp_path / "home"
    (place / "spool").mkdir(parents=True)
    (place / "config.toml").write_text("lock_minutes = 5\n")
    (place / "hook.log").write_text("")
    with Engram(place) as engram:
        assert engram.get_world_state() == ""


def test_repair_refuses_bodies_of_another_database(filled: Path, tmp_path: Path) -> None:
    with Engram(tmp_path / "other"):
        pass
    shutil.copytree(filled / "blobs", tmp_path / "other" / "blobs")
    with Engram(tmp_path / "other") as engram:
        before = _files(tmp_path / "other" / "blobs")
        with pytest.raises(RepairRefused):
            engram.check(repair=True)
        assert _files(tmp_path / "other" / "blobs") == before
        assert any("no session in this database" in problem for problem in engram.check().problems)


def test_a_first_sweep_that_was_killed_leaves_a_leftover(tmp_path: Path) -> None:
    with Engram(tmp_path / "home") as engram:
        keep(blobs.BlobStore(engram.engine, engram.settings), b"of a sweep that was killed before it wrote a row")
        report = engram.check()
        assert (report.problems, report.leftovers) == ((), 1)
        assert engram.check(repair=True).mended == ("moved 1 body that nothing refers to into quarantine",)


def test_repair_moves_leftovers_to_quarantine_and_brings_back_what_is_needed(engram: Engram, home: Path) -> None:
    Claude(home).says("Build the flywheel")
    engram.ingest()
    bodies = blobs.BlobStore(engram.engine, engram.settings)
    name, _ = keep(bodies, b"of a sweep that was killed")
    assert engram.check(repair=True).mended == ("moved 1 body that nothing refers to into quarantine",)
    assert name not in bodies.list_names()
    assert name in bodies.list_quarantined()
    needed = blobs.list_kept(engram.engine)[0]["sha256"]
    bodies.quarantine(needed)
    if engram.engine.dialect == "postgres":  # which keeps bodies that a row refers to
        engram.engine.run("delete from blob_contents where sha256 = :name", name=needed)
    assert any(needed in problem for problem in engram.check().problems)
    assert "restored 1 body from quarantine" in engram.check(repair=True).mended
    assert engram.check().problems == ()


def test_forgetting_a_session_empties_its_quarantine(engram: Engram, home: Path) -> None:
    Claude(home).says("Build the flywheel")
    engram.ingest()
    bodies = blobs.BlobStore(engram.engine, engram.settings)
    needed = blobs.list_kept(engram.engine)[0]["sha256"]
    bodies.quarantine(needed)
    bodies.remove(needed)
    assert bodies.list_quarantined() == set()
