"""A store that an older release wrote opens, is upgraded, and answers.

The files in `older` hold the rows of stores that Engram 0.1.0 wrote. The schema comes from the migrations, which never
change. When a release adds migrations, add a file written by that release.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

import engram.store
from engram import Engram
from engram.store import migrate, token_usage
from tests.surfaces.conftest import Run

MIGRATIONS = Path(engram.store.__path__[0]) / "migrations"
OLDER = Path(__file__).parent / "older"
SCHEMAS = sorted(int(path.stem.removeprefix("schema-")) for path in OLDER.glob("schema-*.sql"))
NEWEST = max(int(path.name[:4]) for path in MIGRATIONS.glob("*.sql"))


@pytest.fixture(params=SCHEMAS, ids=lambda schema: f"schema {schema}")
def schema(request: pytest.FixtureRequest) -> int:
    """The schema of an older release."""
    return int(request.param)


@pytest.fixture
def home(schema: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of an older release."""
    home = tmp_path / "home"
    dump = (OLDER / f"schema-{schema}.sql").read_text(encoding="utf-8")
    directory = tmp_path / "migrations"
    directory.mkdir()
    for path in MIGRATIONS.glob("*.sql"):
        if int(path.name[:4]) <= schema:
            (directory / path.name).write_bytes(path.read_bytes())
    with monkeypatch.context() as patch:
        patch.setattr(migrate, "_DIRECTORY", str(directory))
        with Engram(home) as older, older.engine.transaction():
            older.engine.script(f"pragma defer_foreign_keys = on;\n{dump}")
            assert migrate.get_schema_version(older.engine) == schema
    for body, content in re.findall(r"^-- body (\S+) ([0-9a-f]+)$", dump, re.MULTILINE):
        (home / body).parent.mkdir(parents=True, exist_ok=True)
        (home / body).write_bytes(bytes.fromhex(content))
    return home


def test_the_sums_of_tokens_are_as_if_it_were_new(home: Path) -> None:
    query = "select * from spent order by capture, slot, model, basis, speed, band"
    with Engram(home) as opened:
        upgraded = opened.engine.run(query)
        token_usage.sum_captures(opened.engine, [row["num"] for row in opened.engine.run("select num from captures")])
        assert upgraded == opened.engine.run(query) != []


def test_it_is_upgraded_without_losing_a_row(home: Path, schema: int) -> None:
    dump = (OLDER / f"schema-{schema}.sql").read_text(encoding="utf-8")
    written = Counter(re.findall(r"^insert into (\w+) ", dump, re.MULTILINE))
    with Engram(home) as opened:
        assert migrate.get_schema_version(opened.engine) == NEWEST
        kept = {table: opened.engine.run(f"select count(*) as rows from {table}")[0]["rows"] for table in written}
        assert {table: count for table, count in written.items() if kept[table] < count} == {}
        assert schema < NEWEST or kept == written


def test_the_library_answers_from_it(home: Path) -> None:
    with Engram(home) as opened:
        assert opened.check().problems == ()
        captured = [capture for capture in opened.list_sessions() if capture.events]
        assert [len(opened.get_events(capture.session.id)) for capture in captured] == [7, 8, 16, 12]
        assert opened.get_world_state() == "# Harbour\nRelease 3 is frozen until Monday."
        assert len(opened.list_summaries()) == 5


def test_only_an_upgrade_makes_a_copy(home: Path, schema: int) -> None:
    Engram(home).close()
    assert (home / "engram.db.before-upgrade").exists() == (schema < NEWEST)


def test_the_command_line_answers_from_it(home: Path, run: Run) -> None:
    def ask(*words: str) -> str:
        return run(*words, ENGRAM_HOME=str(home), ENGRAM_EMBEDDER="static").stdout

    sessions = ask("sessions")
    assert "Add refunds" in sessions
    assert "Deploy the sensor service to staging" in sessions
    shown = ask("show", "148a3158")
    assert "Add refunds" in shown
    assert "refunds.py" in shown
    assert "never floats for money" in ask("show", "148a3158", "--events")
    assert "quay-2" in ask("recall", "which host is staging")
    assert "the changelog is written" in ask("recall", "is the changelog written")
    costs = json.loads(ask("cost", "--days", "36500", "--json"))
    assert sum(row["money"] for row in costs) == pytest.approx(0.205)
    assert "Total ≥ $0.21" in ask("cost", "--days", "36500")  # on every Python, though the sum is close to half a cent
