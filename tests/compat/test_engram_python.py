"""The Python Engram's usage example and calling code, as its users wrote them."""

# ruff: noqa: DTZ005, UP031, SIM300  the seed's users wrote it so

from __future__ import annotations

import inspect
import json
import logging
import pickle
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import engram
from engram import Engram, Held, SessionRegistry, sitrep, update_world_state

NONE = inspect.Parameter.empty
# Every call of the seed: its parameters in order, each with its default.
SIGNATURES: dict[str, list[tuple[str, Any]]] = {
    "__init__": [("db_path", None)],
    "get_world_state": [],
    "set_world_state": [("content", NONE), ("updated_by", None)],
    "register": [("session_type", NONE), ("summary", NONE), ("metadata", None)],
    "heartbeat": [("session_id", NONE), ("summary", None)],
    "complete": [("session_id", NONE), ("completion_summary", NONE)],
    "log": [("session_id", NONE), ("entry", NONE)],
    "get_active_sessions": [],
    "get_recent_sessions": [("hours", 24)],
    "get_session_logs": [("session_id", NONE), ("limit", 20)],
    "lock_resource": [("session_id", NONE), ("resource", NONE), ("note", None)],
    "release_resource": [("session_id", NONE), ("resource", NONE)],
    "check_locks": [("resource", NONE)],
    "get_situation_report": [],
}
SESSION = [
    "id", "session_type", "summary", "status", "started_at", "last_heartbeat", "completed_at", "completion_summary",
    "metadata",
]  # fmt: skip
ROUTER = "/data/symbiont/symbiont/router.py"


@pytest.fixture
def eng(tmp_path: Path) -> Any:
    with Engram(tmp_path / "engram.db") as opened:
        yield opened


@pytest.mark.parametrize("name", SIGNATURES)
def test_every_call_takes_what_it_took_and_whatever_is_new_is_optional(name: str) -> None:
    mine = list(inspect.signature(getattr(Engram, name)).parameters.values())[1:]
    wanted = SIGNATURES[name]
    assert [(each.name, each.default) for each in mine[: len(wanted)]] == wanted
    new = [each for each in mine[len(wanted) :] if each.kind is not inspect.Parameter.VAR_KEYWORD]
    assert [each.name for each in new if each.default is NONE] == []


@pytest.mark.parametrize(("call", "names"), [(sitrep, []), (update_world_state, ["content", "session_id"])])
def test_the_modules_own_functions_take_what_they_took(call: Any, names: list[str]) -> None:
    assert list(inspect.signature(call).parameters) == names


def test_the_usage_example_runs_as_it_stands(capsys: pytest.CaptureFixture[str]) -> None:
    # Start every session with:
    print(sitrep())
    eng = Engram()
    sid = eng.register("cowork", "Building the Elixir port of Symbiont")

    # Check what siblings are doing
    active = eng.get_active_sessions()
    recent = eng.get_recent_sessions(hours=24)

    # Log progress
    eng.log(sid, "Finished router module, starting dispatcher")

    # Claim a resource (prevents conflicts)
    eng.lock_resource(sid, "/data/symbiont/symbiont/router.py")

    # Before modifying a file, check if someone else has it
    locks = eng.check_locks("/data/symbiont/symbiont/router.py")

    # Heartbeat (call periodically on long sessions)
    eng.heartbeat(sid, "Still working on dispatcher, 60% done")

    # Update world state before completing (optional, only if your work changes the world)
    eng.set_world_state("Updated world state content", updated_by=sid)

    # Done
    eng.complete(sid, "Finished Elixir port of router + dispatcher. Tests passing.")

    assert "No world state set yet" in capsys.readouterr().out
    assert ([each.id for each in active], recent) == ([sid], [])
    assert [each.session_id for each in locks] == [sid]
    assert eng.get_world_state() == "Updated world state content"
    assert [each.id for each in eng.get_recent_sessions()] == [sid]
    assert eng.check_locks("/data/symbiont/symbiont/router.py") == []
    eng.close()


def test_sessions_read_as_the_dicts_they_were(eng: Engram) -> None:
    sid = eng.register("cowork", "Building", metadata='{"branch": "main"}')
    (row,) = eng.get_active_sessions()
    assert [name for name in SESSION if name not in row] == []
    assert (row["id"], row["status"], row["session_type"]) == (sid, "active", "cowork")
    assert row["metadata"] == '{"branch": "main"}'
    assert row.get("nothing") is None
    assert row.get("completed_at", "never") is None
    for line in (f"- ● `{s['id']}` ({s['session_type']}): {s['summary'][:100]}" for s in eng.get_active_sessions()):
        assert line == f"- ● `{sid}` (cowork): Building"
    eng.complete(sid, "Done")
    (done,) = eng.get_recent_sessions(hours=1)
    assert (done["status"], done["completion_summary"]) == ("completed", "Done")


def test_times_in_a_row_are_the_text_they_were_and_can_be_reckoned_with(eng: Engram) -> None:
    sid = eng.register("cowork", "Building")
    (row,) = eng.get_active_sessions()
    last = datetime.fromisoformat(row["last_heartbeat"])
    assert not (datetime.now() - last) > timedelta(minutes=30)
    assert row["started_at"] <= datetime.now().isoformat()
    assert row.last_heartbeat.tzinfo is not None
    eng.log(sid, "first")
    eng.log(sid, "second")
    logs = eng.get_session_logs(sid, limit=20)
    assert [each["entry"] for each in logs] == ["second", "first"]
    assert logs[0]["timestamp"] >= logs[1]["timestamp"]
    assert set(dict(logs[0])) == {"id", "session_id", "timestamp", "entry"}


def test_locks_read_as_the_dicts_they_were(eng: Engram) -> None:
    one, two = eng.register("cowork", "Building"), eng.register("desktop", "Reading")
    eng.lock_resource(one, ROUTER, "moving it")
    existing = eng.check_locks(ROUTER)
    assert [l["session_id"] for l in existing if l["session_id"] != two] == [one]  # noqa: E741
    row = dict(existing[0])
    assert (row["resource"], row["note"], row["summary"]) == (ROUTER, "moving it", "Building")
    assert row["session_type"] == "cowork"
    assert datetime.fromisoformat(row["locked_at"]) <= datetime.now()
    eng.release_resource(one, ROUTER)
    assert eng.check_locks(ROUTER) == []


def test_rows_go_into_json_as_they_are(eng: Engram) -> None:
    sid = eng.register("cowork", "Building", metadata="free text")
    eng.lock_resource(sid, ROUTER)
    eng.log(sid, "entry")
    for rows in (eng.get_active_sessions(), eng.check_locks(ROUTER), eng.get_session_logs(sid)):
        for indent in (None, 2):
            assert json.loads(json.dumps(rows, indent=indent)) == json.loads(json.dumps([dict(row) for row in rows]))
    assert json.loads(json.dumps(eng.get_active_sessions()))[0]["metadata"] == "free text"
    assert json.loads(json.dumps(eng.get_session(sid)))["id"] == sid


def test_a_row_is_a_dict_to_everyone_who_asks_and_cannot_be_changed(eng: Engram) -> None:
    sid = eng.register("cowork", "Building")
    row: Any = eng.get_session(sid)
    assert {**row} == dict(row) == row
    assert row == eng.get_session(sid)
    assert pickle.loads(pickle.dumps(row)) == row
    assert "%(id)s" % row == "{id}".format(**row) == sid
    with pytest.raises(TypeError, match="frozen"):
        row["id"] = "other"
    with pytest.raises(TypeError, match="frozen"):
        row.update(id="other")
    assert (row.id, isinstance(row, dict)) == (sid, True)


def test_every_other_value_reads_by_name_too(eng: Engram) -> None:
    state: Any = eng.set_world_state("Content")
    assert state["content"] == "Content"
    assert state.get("nothing") is None
    assert "version" in state
    assert json.loads(json.dumps(dict(state)))["version"] == 1
    with pytest.raises(KeyError):
        state["nothing"]


def test_the_place_of_the_store_is_given_and_told_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "data" / "engram.db"
    with Engram(db_path=place) as eng, Engram(None) as default:
        assert eng.db_path == place
        assert place.exists()
        assert default.db_path == engram.DB_PATH
    from engram import DB_PATH

    assert DB_PATH == tmp_path / "home" / "engram.db"
    monkeypatch.setattr(engram, "DB_PATH", tmp_path / "other" / "engram.db")
    update_world_state("Elsewhere")
    with SessionRegistry() as moved:
        assert moved.db_path == tmp_path / "other" / "engram.db"
        assert moved.get_world_state() == "Elsewhere"
    assert "Elsewhere" in sitrep()


def test_what_the_seed_wrote_to_its_log_is_written(eng: Engram, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="engram")
    one, two = eng.register("cowork", "Building"), eng.register("desktop", "Reading")
    eng.lock_resource(one, ROUTER)
    with pytest.raises(Held):
        eng.lock_resource(two, ROUTER)
    eng.lock_resource(two, ROUTER, mode="announce")
    eng.complete(one, "Done")
    told = [(record.levelname, record.getMessage()) for record in caplog.records if record.name.startswith("engram")]
    assert ("INFO", f"Session registered: {one} (cowork) — Building") in told
    assert ("INFO", f"Session completed: {one}") in told
    assert [each for each in told if each[0] == "WARNING"] == [
        ("WARNING", f"Resource '{ROUTER}' already locked by: {one}")
    ] * 2


def test_logging_is_not_loaded_for_those_who_do_not_use_it() -> None:
    import subprocess
    import sys

    code = "import sys; from engram import sitrep; sitrep(); print('logging' in sys.modules)"
    bare = "import sys; import engram.api; print('logging' in sys.modules)"
    with_call, without = (
        subprocess.run([sys.executable, "-c", each], capture_output=True, text=True, check=True).stdout
        for each in (code, bare)
    )
    assert with_call == without
