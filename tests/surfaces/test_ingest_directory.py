"""`engram ingest DIR` on the command line."""

from __future__ import annotations

from pathlib import Path

import orjson

from tests.capture.test_directories import fill_directory
from tests.surfaces.conftest import Run


def test_the_command_says_what_it_found_and_what_it_did_not_recognise(run: Run, tmp_path: Path) -> None:
    found = fill_directory(tmp_path)
    shown = run("ingest", str(found), "--dry-run").stdout
    assert "By agent: 1 aider, 1 claude, 1 cursor." in shown
    assert "1 file is not a transcript of a supported agent:" in shown
    assert str(found / "package.json") in shown
    assert run("ingest", str(found)).stdout.startswith("Ingested ")
    assert orjson.loads(run("ingest", str(found), "--json").stdout)["unrecognized"] == [str(found / "package.json")]


def test_a_directory_without_transcripts_says_so(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    (folder / "package.json").write_text('{"name": "x"}')
    assert run("ingest", str(folder)).stdout.startswith("Nothing new. No transcripts were found.")
    assert "No such file" in run("ingest", str(folder / "gone"), status=2).stderr
