"""No secret is stored, whichever operation it came through."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engram import Engram, Held
from tests.surfaces.conftest import Run
from tests.surfaces.http.calling import Caller
from tests.surfaces.mcp.talking import Talk

TOKEN = "ghp_" + "0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX"
SAID = f"push with {TOKEN} to the mirror"


def told(value: Any) -> str:
    """Return a value as text; check that it contains a redaction mark and not the token."""
    assert TOKEN not in repr(value)
    assert "[REDACTED:" in repr(value)
    return repr(value)


@pytest.fixture
def session(engram: Engram, tmp_path: Path) -> str:
    return engram.register("codex", "Working", flavor="codex", cwd=str(tmp_path))


def test_what_a_session_says_of_itself_holds_no_secret(engram: Engram) -> None:
    made = engram.register("codex", SAID, {"note": SAID}, flavor=f"codex {TOKEN}", native_id=TOKEN, model=TOKEN)
    told(engram.get_session(made))
    told(engram.get_session(made).summary)
    told(engram.get_session(made).metadata)
    told(engram.heartbeat(made, f"again {SAID}").summary)
    told(engram.log(made, SAID))
    told(engram.get_session_logs(made))
    told(engram.complete(made, SAID))
    told(engram.get_session(made).completion_summary)
    told(engram.get_situation_report())


def test_a_lock_is_the_same_by_the_name_that_holds_a_secret(engram: Engram, session: str, tmp_path: Path) -> None:
    other = engram.register("claude", "Working too", cwd=str(tmp_path))
    for name in (f"deploy:{TOKEN}", f"build/{TOKEN}/out.txt", f"/srv/{TOKEN}"):
        told(engram.lock_resource(session, name, SAID))
        told(engram.check_locks(name, session))
        with pytest.raises(Held) as refused:
            engram.lock_resource(other, name)
        told(refused.value)
        assert len(engram.release_resource(session, name)) == 1
    told(engram.activity())


def test_what_is_sent_and_what_everybody_reads_hold_no_secret(engram: Engram, session: str) -> None:
    other = engram.register("claude", "Working too")
    engram.send(session, other, SAID)
    told(engram.inbox(other))
    engram.set_world_state(SAID, session)
    told(engram.world_state())


def test_nothing_of_it_lies_in_the_home_by_any_surface(run: Run, tmp_path: Path) -> None:
    run("register", SAID, ENGRAM_SESSION="")
    run("remember", SAID, "--role", TOKEN)
    with Engram(tmp_path / "home", serving=True) as engram:
        call = Caller(engram)
        made = call.post("register", session_type="codex", summary=SAID).json()
        for operation, words in (
            ("log", {"session_id": made, "entry": SAID}),
            ("lock_resource", {"session_id": made, "resource": f"deploy:{TOKEN}", "note": SAID}),
            ("send", {"sender": made, "to": made, "body": SAID}),
            ("set_world_state", {"content": SAID}),
            ("complete", {"session_id": made, "completion_summary": SAID}),
        ):
            assert call.post(operation, **words).status_code == 200, operation
    with Talk(tmp_path) as talk:
        for tool, given in (
            ("log", {"entry": SAID}),
            ("lock", {"resources": [f"deploy:{TOKEN}"], "note": SAID}),
            ("message", {"to": "next", "body": SAID}),
            ("remember", {"content": SAID}),
        ):
            assert not talk.call(tool, **given).get("isError"), tool
    home = tmp_path / "home"
    assert [path for path in home.rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()] == []
