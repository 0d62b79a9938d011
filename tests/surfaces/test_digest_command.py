"""`engram digest` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

from engram import Engram
from tests.capture.transcripts import Claude
from tests.surfaces.conftest import Run


def test_digest_all_rebuilds_what_earlier_rules_made(run: Run, home: Path) -> None:
    Claude(home).says("Repair the mill")
    run("ingest")
    with Engram() as engram:
        engram.engine.run("update digests set version = 1")
    assert json.loads(run("digest", "--all", "--json").stdout) == {"rebuilt": 1, "left": 0}
    assert run("digest", "--all").stdout == "All digests are up to date.\n"


def test_digest_needs_a_session_or_all(run: Run) -> None:
    assert "--all" in run("digest", status=2).stderr
    assert "--all" in run("digest", "abc", "--all", status=2).stderr
