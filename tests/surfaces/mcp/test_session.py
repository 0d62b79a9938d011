"""Finding the calling session: from the environment, the parent process, or a header."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engram import Engram, InvalidInput, NotFound
from engram.agents.registry import list_agents
from engram.platform import host
from engram.surfaces.mcp import session
from engram.surfaces.mcp.caller import Caller
from tests.surfaces.mcp.talking import HELLO, META, Talk


@pytest.fixture(autouse=True)
def nobody_above(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the agent that may be running these tests."""
    monkeypatch.setattr("engram.agents.running.find_running_agent", lambda: None)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Engram]:
    with Engram(tmp_path / "home") as opened:
        yield opened


@pytest.mark.parametrize(
    ("variable", "flavor"),
    [(agent.session_variable, agent.name) for agent in list_agents() if agent.session_variable],
)
def test_the_agents_own_variable_names_the_session(engram: Engram, variable: str, flavor: str) -> None:
    known = engram.register(flavor, "work", flavor=flavor, native_id="n-1")
    caller = Caller(environ={variable: "n-1"})
    assert session.find_session(engram, caller) == known
    assert session.require_session(engram, caller) == known


def test_codex_names_its_session_with_every_call(engram: Engram) -> None:
    caller = Caller(environ={}, meta={"x-codex-turn-metadata": {"session_id": "n-1"}})
    made = session.require_session(engram, caller)
    assert (engram.get_session(made).flavor, engram.get_session(made).native_id) == ("codex", "n-1")
    assert session.find_session(engram, caller) == made


@pytest.mark.parametrize("carried", [None, 7, {}, {"session_id": 7}, {"session_id": ["n-1"]}])
def test_other_meta_fields_name_no_session(home: Engram, carried: object) -> None:
    assert session.find_session(home, Caller(environ={}, meta={"x-codex-turn-metadata": carried})) is None


def test_an_unknown_native_session_is_announced_only_when_it_acts(home: Engram, repository: Path) -> None:
    caller = Caller(environ={"CLAUDE_CODE_SESSION_ID": "new", "CLAUDE_PROJECT_DIR": str(repository)})
    assert session.find_session(home, caller) is None
    made = home.get_session(session.require_session(home, caller))
    assert (made.flavor, made.native_id, made.project) == ("claude", "new", str(repository))
    assert session.find_session(home, caller) == made.id


def test_a_variable_left_over_from_an_agent_further_up_is_not_ours(
    home: Engram, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.register("claude", "the outer one", flavor="claude", native_id="outer")
    own = host.find_process(os.getpid())
    monkeypatch.setattr("engram.agents.running.find_running_agent", lambda: (own, "codex"))
    made = home.get_session(session.require_session(home, Caller(environ={"CLAUDE_CODE_SESSION_ID": "outer"})))
    assert (made.flavor, made.native_id) == ("codex", None)


def test_after_a_fresh_start_within_one_process_the_newer_session_calls(
    home: Engram, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = host.find_process(os.getpid())
    monkeypatch.setattr("engram.agents.running.find_running_agent", lambda: (own, "claude"))
    old = home.register("claude", "before /clear", flavor="claude", native_id="old")
    home.complete(old, "cleared")
    new = home.register("claude", "after /clear", flavor="claude", native_id="new")
    assert session.find_session(home, Caller(environ={"CLAUDE_CODE_SESSION_ID": "old"})) == new


def test_the_session_of_the_process_above_us_is_found_without_any_variable(home: Engram) -> None:
    known = home.register("codex", "work", flavor="codex", pid=os.getppid())
    assert session.find_session(home, Caller(environ={})) == known


def test_a_session_chosen_by_hand_is_the_last_resort(home: Engram) -> None:
    chosen = home.register("claude", "work", flavor="claude")
    assert session.find_session(home, Caller(environ={"ENGRAM_SESSION": chosen})) == chosen
    assert session.find_session(home, Caller(environ={"ENGRAM_SESSION": "gone"})) is None


def test_a_program_we_do_not_know_is_announced_under_its_own_name_once(home: Engram) -> None:
    caller = Caller(environ={}, client="some desktop")
    made = session.require_session(home, caller)
    assert session.require_session(home, caller) == made
    assert home.get_session(made).session_type == "some desktop"


def test_over_http_only_the_header_counts(home: Engram) -> None:
    known = home.register("claude", "work", flavor="claude", native_id="n-1", pid=os.getppid())
    assert session.find_session(home, Caller(environ={}, is_local=False)) is None
    assert session.find_session(home, Caller(environ={}, header_session=known, is_local=False)) == known
    with pytest.raises(NotFound):
        session.find_session(home, Caller(environ={}, header_session="nobody", is_local=False))
    with pytest.raises(InvalidInput):
        session.require_session(home, Caller(environ={}, is_local=False))


def test_the_project_is_the_sessions_else_the_directorys(home: Engram, repository: Path) -> None:
    known = home.register("claude", "work", project="/elsewhere")
    caller = Caller(environ={"CLAUDE_PROJECT_DIR": str(repository / "src")})
    assert session.find_project(home, caller, known) == "/elsewhere"
    assert session.find_project(home, caller, None) == str(repository)
    assert session.resolve_project(home, caller, ".") == str(repository)
    assert session.resolve_project(home, caller, "team-name") == "team-name"
    with pytest.raises(InvalidInput):
        session.resolve_project(home, Caller(environ={}, is_local=False), ".")


def run_by(agent: str, directory: Path) -> list[str]:
    """Create a program with the name of an agent that starts the server."""
    program = directory / agent
    program.write_text(
        f"#!{sys.executable}\nimport subprocess, sys\n"
        f"sys.exit(subprocess.run([{sys.executable!r}, '-m', 'engram', 'mcp']).returncode)\n"
    )
    program.chmod(0o755)
    return [str(program)]


def test_a_real_server_knows_the_session_of_its_environment(home: Engram, repository: Path) -> None:
    known = home.register("claude", "work", flavor="claude", native_id="n-1", cwd=str(repository))
    with Talk(repository, run_by("claude", repository), CLAUDE_CODE_SESSION_ID="n-1") as talk:
        assert f"You are session `{known}`." in talk.call("sitrep")["content"][0]["text"]
        talk.call("lock", resources=["src/app.py"])
    assert [(lock.session_id, lock.resource) for lock in home.list_locks()] == [(known, str(repository / "src/app.py"))]


def test_a_real_server_announces_the_agent_above_it_by_its_process(home: Engram, repository: Path) -> None:
    with Talk(repository, run_by("codex", repository)) as talk:
        talk.result("initialize", **HELLO)
        talk.call("log", entry="here")
        talk.call("log", entry="again")
        (found,) = home.get_active_sessions()
        assert (found.flavor, found.project, found.presence) == ("codex", str(repository), "here")
        assert found.process is not None
        assert found.process.pid == talk.process.pid


def test_the_newer_era_names_its_client_with_every_request(home: Engram, repository: Path) -> None:
    with Talk(repository) as talk:
        talk.result("tools/call", name="log", arguments={"entry": "here"}, _meta=META)
    (found,) = home.get_active_sessions()
    assert found.session_type in ("tester", *(agent.name for agent in list_agents()))
