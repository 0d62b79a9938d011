"""The playbook tells how to work on a project, from what happened there."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from click.testing import CliRunner

from engram import Engram
from engram.surfaces.cli.root_group import build_command_line
from tests.patterns.writers import START, Claude

SHOP = "/home/me/shop"
PASSED = "============================== 12 passed in 0.31s =============================="
FAILED = "FAILED tests/test_prices.py::test_sum - assert 3 == 4\n==== 1 failed, 11 passed in 0.30s ===="


def session(home: Path, name: str, day: int = 0) -> Claude:
    return Claude(home, name, SHOP, START + timedelta(days=day))


def read(engram: Engram, home: Path) -> str:
    engram.ingest([str(home / ".claude")])
    return engram.get_playbook(SHOP).text


def test_the_command_that_passed_most_is_named_with_how_often_and_when(engram: Engram, tmp_path: Path) -> None:
    for day in range(3):
        writer = session(tmp_path, f"s{day}", day)
        writer.says("Fix the sum of the prices in the shop.")
        writer.runs("cd backend && uv run pytest -q", PASSED)
        writer.runs("uv run pytest tests/test_prices.py", FAILED, 1)
    text = read(engram, tmp_path)
    assert "- Test: `uv run pytest` in `backend/` (passed 3 times, last 2026-11-03; " in text


def test_a_command_that_stopped_working_is_not_named(engram: Engram, tmp_path: Path) -> None:
    old = session(tmp_path, "old")
    old.says("Build the shop please, as always.")
    old.runs("make build", "done")
    for day in range(1, 5):
        writer = session(tmp_path, f"s{day}", day)
        writer.says("Build the shop please, as always.")
        writer.runs("make build", "make: *** No rule to make target 'build'.  Stop.", 2)
        writer.runs("npm run build", "built in 2 s")
    text = read(engram, tmp_path)
    assert "`npm run build`" in text
    assert "- Build: `make build`" not in text


def test_an_error_that_comes_again_is_a_pitfall_with_what_ends_it(engram: Engram, tmp_path: Path) -> None:
    for day in range(2):
        writer = session(tmp_path, f"s{day}", day)
        writer.says("Run the tests of the backend, all of them.")
        writer.runs("go test ./...", "pattern ./...: directory prefix . does not contain main module", 1)
        writer.runs("cd backend && go test ./...", "ok  \tshop/prices\t0.2s")
    text = read(engram, tmp_path)
    assert "does not contain main module` from `go test ./...` → run it in `backend/`. (2 sessions" in text


def test_rules_are_conventions_and_replaced_ones_are_gone(engram: Engram, tmp_path: Path) -> None:
    first = session(tmp_path, "first")
    first.says("Add a price list to the shop. Prices must always be integer cents, never floats, in every table.")
    first.answers("The price list is there, in integer cents.")
    second = session(tmp_path, "second", 1)
    second.says("Change the price list: from now on prices must be integer micro cents, no longer integer cents.")
    second.answers("The price list is in integer micro cents.")
    text = read(engram, tmp_path)
    assert "## Conventions" in text
    assert "micro cents" in text
    assert "never floats" not in text


def test_files_changed_together_are_named_but_not_a_test_with_its_file(engram: Engram, tmp_path: Path) -> None:
    for day in range(3):
        writer = session(tmp_path, f"s{day}", day)
        writer.says("Change the columns of the price table once more.")
        for path in ("prices/table.py", "docs/prices.md", "prices/test_table.py"):
            writer.edits(path, "a", "b")
    text = read(engram, tmp_path)
    assert "`docs/prices.md` and `prices/table.py` (3 of 3 changes)" in text
    assert "`prices/table.py` and `prices/test_table.py`" not in text


def test_a_long_history_is_counted_in_full(engram: Engram, tmp_path: Path) -> None:
    for day in range(55):
        writer = session(tmp_path, f"s{day}", day)
        writer.says("Change the columns of the price table once more.")
        writer.edits("prices/table.py", "a", "b")
        writer.runs("npm run build", "built in 2 s")
    text = read(engram, tmp_path)
    assert "`prices/`: table.py (55 changes)" in text
    assert "`npm run build` (passed 55 times, last 2026-12-25; " in text
    assert "claude: 55 sessions (last 2026-12-25)" in text


def test_a_project_without_evidence_has_no_page(engram: Engram) -> None:
    assert engram.get_playbook("/home/me/unknown").text == ""


def test_the_command_prints_the_page_and_json(home: Path, tmp_path: Path) -> None:
    writer = session(home, "one")
    writer.says("Install what the shop needs and run its tests.")
    writer.runs("npm ci", "added 3 packages")
    writer.runs("npm test", PASSED)
    with Engram(tmp_path / "home") as engram:
        engram.ingest([str(home / ".claude")])
    run = CliRunner().invoke
    assert "- Set up: `npm ci`" in run(build_command_line(), ["playbook", "shop"]).output
    assert '"commands"' in run(build_command_line(), ["playbook", "shop", "--json"]).output
