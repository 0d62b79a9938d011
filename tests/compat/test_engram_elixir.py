"""The Elixir Engram's usage example: each call by its name, as a Python method and as an HTTP operation."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from engram import Engram, NotFound
from tests.surfaces.http.calling import Caller

NONE = inspect.Parameter.empty
# Every client function of the seed without the server it is sent to: its parameters in order, with their defaults.
SIGNATURES: dict[str, list[tuple[str, Any]]] = {
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
    "sitrep": [],
    "get_session": [("session_id", NONE)],
    "stats": [],
}
SESSION = {
    "id", "session_type", "summary", "status", "started_at", "last_heartbeat", "completed_at", "completion_summary",
    "metadata",
}  # fmt: skip
ROUTER = "/data/symbiont_ex/lib/symbiont/router.ex"


class Remote:
    """The operations as a program in another language calls them: POST with named arguments, JSON back."""

    def __init__(self, hub: Engram) -> None:
        self.caller = Caller(hub)

    def __getattr__(self, name: str) -> Any:
        def call(*given: Any) -> Any:
            names = [parameter for parameter, _ in SIGNATURES[name]]
            answer = self.caller.post(name, **dict(zip(names, given, strict=False)))
            assert answer.status_code == 200, answer.text
            return answer.json()

        return call


@pytest.fixture(params=["python", "http"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    with Engram(tmp_path / "engram.db") as opened:
        yield opened if request.param == "python" else Remote(opened)


@pytest.mark.parametrize("name", SIGNATURES)
def test_every_client_function_takes_what_it_took(name: str) -> None:
    mine = list(inspect.signature(getattr(Engram, name)).parameters.values())[1:]
    wanted = SIGNATURES[name]
    assert [(each.name, each.default) for each in mine[: len(wanted)]] == wanted
    assert [each.name for each in mine[len(wanted) :] if each.default is NONE] == []


def test_the_usage_example_runs_call_by_call(server: Any) -> None:
    # Get situation report (call at start of every session)
    assert "No world state set yet" in server.sitrep()

    # Register a session
    sid = server.register("cowork", "Building the Elixir port")

    # Log progress
    server.log(sid, "Finished router module")

    # Claim a resource
    server.lock_resource(sid, "/data/symbiont_ex/lib/symbiont/router.ex")

    # Check locks before modifying a file
    locks = server.check_locks("/data/symbiont_ex/lib/symbiont/router.ex")

    # Heartbeat (call periodically on long sessions)
    server.heartbeat(sid, "Still working, 60% done")

    # Update world state before completing
    server.set_world_state("Updated content", sid)
    report = server.sitrep()

    # Done
    server.complete(sid, "Finished Elixir port. Tests passing.")

    assert {"resource", "session_id", "locked_at", "note", "summary", "session_type"} <= set(locks[0])
    assert (locks[0]["resource"], locks[0]["session_id"], locks[0]["session_type"]) == (ROUTER, sid, "cowork")
    assert "Updated content" in report
    assert "**Active sessions (1):**" in report
    assert f"`{sid}` (cowork" in report
    assert f"- `{ROUTER}` by `{sid}`" in report
    assert server.get_world_state() == "Updated content"


def test_rows_and_counts_have_the_keys_they_had(server: Any) -> None:
    sid = server.register("cowork", "Building", '{"a": 1}')
    assert set(server.get_active_sessions()[0]) >= SESSION
    server.log(sid, "first")
    server.log(sid, "second")
    server.lock_resource(sid, ROUTER, "moving it")
    counts = {"total_sessions": 1, "active_sessions": 1, "completed_sessions": 0, "total_logs": 2, "active_locks": 1}
    found = server.stats()
    assert {name: found[name] for name in counts} == counts
    logs = server.get_session_logs(sid, 20)
    assert [each["entry"] for each in logs] == ["second", "first"]
    assert set(logs[0]) == {"id", "session_id", "timestamp", "entry"}
    server.release_resource(sid, ROUTER)
    server.complete(sid, "Done")
    session = server.get_session(sid)
    assert (session["status"], session["completion_summary"], session["metadata"]) == ("completed", "Done", '{"a": 1}')
    assert datetime.fromisoformat(session["completed_at"]) >= datetime.fromisoformat(session["started_at"])
    assert [each["id"] for each in server.get_recent_sessions(24)] == [sid]


def test_an_unknown_session_is_the_error_not_found(tmp_path: Path) -> None:
    with Engram(tmp_path / "engram.db") as opened:
        with pytest.raises(NotFound):
            opened.get_session("nobody")
        answer = Caller(opened).post("get_session", session_id="nobody")
        assert (answer.status_code, answer.json()["error"]) == (404, "not_found")


def test_the_sitrep_is_also_read_with_get(tmp_path: Path) -> None:
    with Engram(tmp_path / "engram.db") as opened:
        opened.set_world_state("Content")
        answer = Caller(opened).get("/api/sitrep")
        assert (answer.status_code, "Content" in answer.json()) == (200, True)
