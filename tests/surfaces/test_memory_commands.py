"""Commands for summaries, eras, profile and narrative."""

from __future__ import annotations

import json
from pathlib import Path

import apsw

from engram import Engram
from tests.summaries.talking import said
from tests.summaries.test_import_lyra import SCHEMA
from tests.surfaces.conftest import Run


def talked(tmp_path: Path) -> None:
    with Engram(tmp_path / "home") as engram:
        said(engram, "billing", "2026-03-10T10:00:00+00:00", "I live in Berlin. Let's drop MySQL because it is slow.",
             "I fixed it. Next step: the reports still need to be ported.")  # fmt: skip


def test_from_what_was_said_to_where_things_stand(run: Run, tmp_path: Path) -> None:
    assert "No monthly summary" in run("eras").stdout
    assert "No profile yet" in run("profile").stdout
    talked(tmp_path)
    assert "due for a summary        1" in run("backlog").stdout
    assert "No summary yet" in run("gist", "billing").stdout
    assert run("summarize").stdout == "Wrote 1 summary (1 by extract/1).\n"
    assert "Let's drop MySQL because it is slow." in run("gist", "bill").stdout
    assert "2 messages, 2026-03-10" in run("gist", "billing").stdout
    assert "Months: 1 written (2026-03), 0 up to date, 0 removed. Profile: made." in run("integrate").stdout
    assert "2026-03, 1 session, version 1 by extract/1" in run("eras").stdout
    assert "I live in Berlin." in run("profile").stdout
    assert "still need to be ported" in run("narrative").stdout
    assert "billing" in run("memory", "gists").stdout
    assert run("memory", "months").stdout.startswith("2026-03\n")
    assert run("memory", "unsummarized", "billing").stdout == "0\n"
    assert run("memory", "covered").stdout == "1\n"


def test_everything_is_json_for_programs(run: Run, tmp_path: Path) -> None:
    talked(tmp_path)
    assert json.loads(run("gist", "billing", "--json").stdout) is None
    assert json.loads(run("summarize", "billing", "--json").stdout)["made"] == ["billing"]
    assert json.loads(run("gist", "billing", "--json").stdout)["version"] == 1
    assert json.loads(run("integrate", "--rebuild", "--json").stdout)["eras"] == ["2026-03"]
    assert json.loads(run("eras", "--json").stdout)[0]["session_count"] == 1
    assert json.loads(run("backlog", "--json").stdout)["dirty"] == 0
    assert list(json.loads(run("memory", "months", "--json").stdout)) == ["2026-03"]


def test_what_one_knows_better_can_be_set(run: Run, tmp_path: Path) -> None:
    talked(tmp_path)
    run("memory", "set-gist", "billing", "They dropped MySQL.")
    assert "by given" in run("gist", "billing").stdout
    run("memory", "set-era", "2026-03", text="A quiet month.\n")
    assert "A quiet month." in run("eras").stdout
    run("memory", "set-profile", "Lives in a lighthouse.", "--made-of", "billing")
    assert run("profile").stdout == "Lives in a lighthouse.\n"
    run("memory", "set-narrative", "All is well.")
    assert run("narrative").stdout == "All is well.\n"
    run("memory", "set-self", '{"mood": "calm"}')
    assert json.loads(run("self").stdout) == {"mood": "calm"}
    assert "Expected a JSON object" in run("memory", "set-self", "calm", status=2).stderr
    assert "as a month" in run("memory", "set-era", "May", "x", status=2).stderr


def test_lyra_moves_in(run: Run, tmp_path: Path) -> None:
    db = apsw.Connection(str(tmp_path / "lyra.db"))
    db.execute(SCHEMA)
    db.execute(
        "insert into exchanges values (1, 'a', 'user', 'I have nine apple trees.', x'0000803f', '2026-03-10T12:00')"
    )
    tried = run("import", "lyra", str(tmp_path / "lyra.db"), "--dry-run").stdout
    assert "Would import" in tried
    done = run("import", "lyra", str(tmp_path / "lyra.db")).stdout
    assert "1 exchange in 1 session" in done
    assert "skipped 1 vector (1 of 1 dimensions)" in done
    assert "repaired 1 × times without a zone, read as UTC" in done
    assert json.loads(run("import", "lyra", str(tmp_path / "lyra.db"), "--json").stdout)["already_here"] == 1
    assert "no such file" in run("import", "lyra", "nowhere.db", status=1).stderr
