"""Unreadable records, and reading everything again, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

from tests.capture.test_unread import cursor_file
from tests.capture.transcripts import Claude
from tests.surfaces.conftest import Run


def test_ingest_prints_and_encodes_what_it_could_not_read(run: Run, home: Path) -> None:
    path = cursor_file(home, {"hello": "world"})
    shown = run("ingest").stdout
    assert f"{path} (18 bytes)" in shown
    (unread,) = json.loads(run("ingest", "--json").stdout)["unread"]
    assert (unread["path"], unread["size"]) == (str(path), 18)
    assert unread["reason"] in shown


def test_many_are_named_by_example_and_all_in_json(run: Run, home: Path) -> None:
    for number in range(25):
        cursor_file(home, {"hello": number}, name=f"chat-{number:02}")
    shown = run("ingest").stdout
    assert shown.count("chat-") < 2 * 25
    assert "15 more" in shown
    assert len(json.loads(run("ingest", "--json").stdout)["unread"]) == 25


def test_again_is_an_option_of_the_command(run: Run, home: Path) -> None:
    Claude(home).says("Hello")
    run("ingest")
    assert run("ingest", "--again").stdout.startswith("Ingested 0 events of 1 session")
    assert "--again" in run("ingest", "--help").stdout
    assert "--watch" in run("ingest", "--again", "--watch", status=2).stderr
