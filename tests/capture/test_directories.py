"""A directory that a person names is searched for transcripts of every agent, by content."""

from __future__ import annotations

from pathlib import Path

import pytest

from engram import Engram
from engram.platform.zstd import zstd
from tests.agents.reading import TRANSCRIPTS
from tests.agents.test_cursor import ChatStore, said, text
from tests.capture.transcripts import Claude

AIDER = "\n# aider chat started at 2026-01-01 10:00:00\n\n#### Fix it  \n\nDone.\n"


def fill_directory(tmp_path: Path) -> Path:
    """Return a directory with transcripts under names no agent uses, and with other files."""
    folder = tmp_path / "found"
    for name in ("one/two", "node_modules/x", ".git"):
        (folder / name).mkdir(parents=True)
    claude = Claude(tmp_path / "elsewhere")
    claude.says("Read the log")
    content = claude.path.read_bytes()
    (folder / "one" / "two" / "backup.txt").write_bytes(content)
    (folder / "node_modules" / "x" / "copy.jsonl").write_bytes(content)
    (folder / ".git" / "copy.jsonl").write_bytes(content)
    (folder / "one" / ".aider.chat.history.md").write_text(AIDER)
    store = ChatStore(folder)
    store.finish(store.add(said("user", text("Do it"))))
    (folder / "package.json").write_text('{"name": "x"}')
    (folder / "README.md").write_text("# Read me\n")
    (folder / "code.py").write_text("x = 1\n")
    return folder


@pytest.fixture
def found(tmp_path: Path) -> Path:
    return fill_directory(tmp_path)


def test_every_transcript_in_it_is_found_whatever_its_name(engram: Engram, found: Path) -> None:
    report = engram.ingest([str(found)])
    assert report.agents == {"aider": 1, "claude": 1, "cursor": 1}
    assert (report.sessions, report.ingested, report.unread) == (3, 3, ())
    assert {Path(path).name for path in report.unrecognized} == {"package.json"}
    assert engram.ingest([str(found)]).skipped_unchanged == 3


def test_a_dry_run_counts_the_same_and_writes_nothing(engram: Engram, found: Path) -> None:
    report = engram.ingest([str(found)], dry_run=True)
    assert (report.agents, len(report.unrecognized)) == ({"aider": 1, "claude": 1, "cursor": 1}, 1)
    assert engram.list_sessions() == []


def test_files_that_are_no_transcripts_do_not_come_up_again(engram: Engram, found: Path) -> None:
    engram.ingest([str(found)])
    report = engram.ingest()
    assert (report.unread, report.unrecognized, report.vanished) == ((), (), 0)


def test_a_compressed_transcript_beside_the_plain_one_is_read_once(engram: Engram, tmp_path: Path) -> None:
    claude = Claude(tmp_path / "elsewhere")
    claude.says("Read the log")
    folder = tmp_path / "found"
    folder.mkdir()
    for name, content in (("a.jsonl", claude.path.read_bytes()), ("a.jsonl.zst", zstd.compress(b"{}\n"))):
        (folder / name).write_bytes(content)
    assert engram.ingest([str(folder)]).discovered == 1


def test_a_directory_named_with_its_file_is_read_once(engram: Engram, found: Path) -> None:
    assert engram.ingest([str(found), str(found / "one" / "two" / "backup.txt")]).discovered == 3


def test_the_shared_transcripts_are_all_found(engram: Engram) -> None:
    if not TRANSCRIPTS.exists():
        pytest.skip(f"no samples in {TRANSCRIPTS}: real transcripts are not tested")
    report = engram.ingest([str(TRANSCRIPTS)], dry_run=True)
    assert not report.failures
    assert {"aider", "claude", "codex", "cursor", "gemini", "grok", "opencode", "qwen"} <= set(report.agents or {})
