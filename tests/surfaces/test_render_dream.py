"""The output of dream, dry run and undo."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest
from click import unstyle
from click.testing import CliRunner

from engram.dream.priorities import Drive
from engram.dream.results import DreamPreview, Pass, UndoReport
from engram.dream.schedule import Schedule
from engram.platform.text import format_count
from engram.surfaces.cli.render import dream as render_dream
from engram.surfaces.cli.render import render
from engram.surfaces.cli.root_group import build_command_line

NOW = datetime(2026, 11, 16, 9, 30, tzinfo=timezone.utc)
TIMER = Schedule(kind="cron", files={"crontab": "*/30 * * * * engram dream\n"}, command=("engram", "dream"), minutes=30)


def drive(name: str, level: float, threshold: float = 0.5) -> Drive:
    return Drive(name=name, level=level, pressure=level, threshold=threshold, since=None, why="so it is")


def a_pass(**given: Any) -> Pass:
    usual: dict[str, Any] = {
        "id": 3, "began_at": NOW, "ended_at": NOW, "why": "asked", "host": "box", "pid": 1, "before": {}, "drives": {},
        "steps": (), "seconds": 0.1, "calls": 0, "tokens": 0, "cost": 0.0, "budget": "", "changes": {}, "rot": None,
    }  # fmt: skip
    return Pass(**usual | given)


def foreseen(**given: Any) -> str:
    usual: dict[str, Any] = {"drives": {}, "steps": {}, "waiting": {}, "diff": "", "note": ""}
    return render(DreamPreview(**usual | given))


def test_what_a_pass_wrote_is_counted_in_words() -> None:
    text = render(a_pass(changes={"entry": 1, "gist": 2, "page": 1, "self": 2}))
    assert "wrote 1 log entry, 2 summaries, 1 page change, 2 self state versions: `engram dream --undo 3`" in text


def test_a_drive_that_nothing_presses_on_is_no_reason_whatever_its_threshold() -> None:
    text = render(a_pass(before={"hygiene": drive("hygiene", 0.0, 0.0), "curiosity": drive("curiosity", 0.1, 0.0)}))
    assert "because curiosity 0.10" in text
    assert "because hygiene" not in text


def test_a_dry_run_says_when_nothing_is_due_and_how_the_rest_would_be_done() -> None:
    result = foreseen(waiting={"detect": 19})
    assert result == "Nothing to do.\nWould leave detect: 19 waiting\n`engram dream --force` runs those too."
    assert (
        foreseen(steps={"ingest": 1, "gist": 2})
        == "Would run ingest to look for new transcripts\nWould run gist: 2 waiting"
    )


def test_undoing_names_documents_as_people_do_and_says_how_many_it_does_not_name() -> None:
    gists = tuple(f"gist s{number}" for number in range(25))
    text = render(UndoReport(id=3, restored=("self self", "narrative current"), removed=gists, kept=("profile self",)))
    assert "  restored: self state\n  restored: narrative\n  removed: gist s0\n" in text
    assert "  removed: gist s19\n  removed: 5 more; --json lists all\n  kept, changed since: profile" in text


def test_a_timer_is_told_with_its_line_and_the_way_back() -> None:
    result = unstyle(render_dream.format_schedule(TIMER, dry_run=False))
    assert result.startswith("cron runs a pass every 30 minutes:\ncrontab\n  */30 * * * * engram dream\n")
    assert result.endswith("Remove it with `engram dream --uninstall`.")
    planned = render_dream.format_schedule(TIMER, dry_run=True)
    assert planned.startswith("cron would run a pass")
    assert "--uninstall" not in planned


def test_what_is_taken_away_is_named_and_nothing_is_said_to_be_nothing() -> None:
    assert unstyle(render_dream.format_removed_schedule(TIMER, dry_run=False)).startswith("Removed:\ncrontab\n")
    assert unstyle(render_dream.format_removed_schedule(TIMER, dry_run=True)).startswith("Would remove:\ncrontab\n")
    assert "`engram dream --install`" in render_dream.format_removed_schedule(None, dry_run=False)


def test_one_thing_is_counted_as_one() -> None:
    assert [format_count(0, "file"), format_count(1, "file"), format_count(2_000, "file")] == [
        "0 files",
        "1 file",
        "2,000 files",
    ]
    assert [format_count(1, "entry", "entries"), format_count(2, "entry", "entries")] == ["1 entry", "2 entries"]


@pytest.mark.parametrize("words", [["--every", "20"], ["--every", "20", "--uninstall"], ["--every", "20", "--once"]])
def test_how_often_goes_with_a_timer_only(words: list[str]) -> None:
    refused = CliRunner().invoke(build_command_line(), ["dream", *words], prog_name="engram")
    assert refused.exit_code == 2
    assert "--every needs --install" in refused.output
