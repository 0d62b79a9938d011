"""Hooks: agents' events become activity, messages and refusals, and errors never break the agent."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engram import Engram
from engram.platform.text import count_tokens
from engram.store import hook_log
from engram.surfaces.hooks.responses import MAX_CONTEXT_CHARS
from tests.conftest import git


def hook(payload: Any, *words: str, **env: str) -> dict[str, Any]:
    text = payload if isinstance(payload, str) else json.dumps(payload)
    done = subprocess.run(
        [sys.executable, "-m", "engram", "hook", *words], input=text, capture_output=True, text=True,
        env={**os.environ, **env}, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    answer: dict[str, Any] = json.loads(done.stdout) if done.stdout else {}
    inner: dict[str, Any] = answer.get("hookSpecificOutput", answer)
    return inner


def event(name: str, native_id: str, cwd: Path, **facts: Any) -> dict[str, Any]:
    path = f"/home/me/.claude/projects/app/{native_id}.jsonl"
    return {"hook_event_name": name, "session_id": native_id, "transcript_path": path, "cwd": str(cwd), **facts}


def codex(name: str, native_id: str, cwd: Path, **facts: Any) -> dict[str, Any]:
    path = f"/home/me/.codex/sessions/rollout-{native_id}.jsonl"
    return {**event(name, native_id, cwd, **facts), "transcript_path": path, "turn_id": "t1"}


def edit(path: Path | str) -> dict[str, Any]:
    return {"tool_name": "Edit", "tool_input": {"file_path": str(path)}}


def shell(command: str) -> dict[str, Any]:
    return {"tool_name": "Bash", "tool_input": {"command": command}}


def log(tmp_path: Path) -> list[hook_log.HookLogEntry]:
    return list(hook_log.read_recent(str(tmp_path / "home")))


def test_a_start_announces_the_session_and_says_what_helps(repository: Path, tmp_path: Path) -> None:
    with Engram(tmp_path / "home") as engram:
        engram.set_world_state("# The world")
        other = engram.register("codex", "renaming things", cwd=str(repository))
        engram.lock_resource(other, "src/")
        told = hook(event("SessionStart", "abc", repository))["additionalContext"]
        session = next(each for each in engram.get_active_sessions() if each.flavor == "claude")
    assert (session.native_id, session.project) == ("abc", str(repository))
    assert told.startswith(f"You are session `{session.id}`")
    assert told.index("renaming things") < told.index("# The world")  # possible conflicts come first
    assert str(repository / "src") in told
    assert told.count(session.id) == 1  # the session itself is left out


def test_a_start_shows_the_last_work_on_the_project(repository: Path, tmp_path: Path) -> None:
    with Engram(tmp_path / "home") as engram:
        engram.remember("earlier", "user", "We keep money in whole cents.")
        earlier = engram.register("codex", "rounding", native_id="n1", flavor="codex", cwd=str(repository))
        engram.engine.run(
            "insert into captures (session_id, started_at, last_at, exchanged) values (:id, 1, :now, 1)",
            id=earlier, now=engram.now(),
        )  # fmt: skip
        engram.store_summary(earlier, "Decided: money is kept in whole cents, rounded half up.")
        engram.complete(earlier, "done")
        told = hook(event("SessionStart", "abc", repository))["additionalContext"]
    assert "| Decided: money is kept in whole cents" in told
    assert f"- 0 s ago on main, unclear: rounding [`{earlier}`]" in told


def test_the_same_start_reported_twice_is_answered_once(repository: Path) -> None:
    started = event("SessionStart", "abc", repository, source="startup")
    assert hook(started)
    assert hook(started) == {}
    assert hook({**started, "source": "compact"}) == {}  # nothing changed since


def test_a_session_that_goes_on_gets_only_what_is_new(repository: Path, tmp_path: Path) -> None:
    hook(event("SessionStart", "abc", repository, source="startup"))
    with Engram(tmp_path / "home") as engram:
        (session,) = engram.get_active_sessions()
        engram.send(None, session.id, "the schema changed")
        engram.set_world_state("# The world\nThe release is frozen.")
    told = hook(event("SessionStart", "abc", repository, source="resume"))["additionalContext"]
    assert "the schema changed" in told
    assert "frozen" not in told
    assert count_tokens(told) <= 100


def test_the_same_prompt_reported_twice_is_answered_once(repository: Path, tmp_path: Path) -> None:
    hook(event("SessionStart", "abc", repository))
    asked = event("UserPromptSubmit", "abc", repository, prompt="fix the login", prompt_id="p1")
    with Engram(tmp_path / "home") as engram:
        (session,) = engram.get_active_sessions()
        engram.send(None, session.id, "first news")
        assert "first news" in hook(asked)["additionalContext"]
        engram.send(None, session.id, "second news")
        assert hook(asked) == {}
        assert "second news" in hook({**asked, "prompt_id": "p2"})["additionalContext"]


def test_a_prompt_sets_the_task_and_delivers_messages_once(repository: Path, tmp_path: Path) -> None:
    hook(event("SessionStart", "abc", repository))
    with Engram(tmp_path / "home") as engram:
        (session,) = engram.get_active_sessions()
        engram.send(None, session.id, "the build is red")
        response = hook(event("UserPromptSubmit", "abc", repository, prompt="fix the login"))
        assert "| the build is red" in response["additionalContext"]
        assert hook(event("UserPromptSubmit", "abc", repository, prompt="go on")) == {}
        assert engram.get_session(session.id).summary == "go on"


def test_an_edit_claims_the_file_until_the_turn_ends(repository: Path, tmp_path: Path) -> None:
    path = repository / "src" / "app.py"
    hook(event("UserPromptSubmit", "abc", repository, prompt="rename the parser"))
    assert hook(event("PreToolUse", "abc", repository, **edit(path))) == {}
    refused = hook(codex("PreToolUse", "xyz", repository, **edit("src/app.py")))
    assert refused["permissionDecision"] == "deny"
    assert "claude: rename the parser" in refused["permissionDecisionReason"]
    hook(event("Stop", "abc", repository))
    assert hook(codex("PreToolUse", "xyz", repository, **edit("src/app.py"))) == {}
    with Engram(tmp_path / "home") as engram:
        assert [lock.flavor for lock in engram.list_locks()] == ["codex"]


def test_edits_of_one_file_in_separate_checkouts_do_not_conflict(repository: Path) -> None:
    other = repository.parent / "worktree"
    git(repository, "worktree", "add", "-q", str(other), "-b", "feature")
    assert hook(event("PreToolUse", "abc", repository, **edit(repository / "src" / "app.py"))) == {}
    assert hook(codex("PreToolUse", "xyz", other, **edit(other / "src" / "app.py"))) == {}
    with Engram(os.environ["ENGRAM_HOME"]) as engram:
        engram.lock_resource(engram.register("gemini", "a lock asked for", cwd=str(repository)), "README.md")
    assert hook(codex("PreToolUse", "xyz", other, **edit(other / "README.md")))["permissionDecision"] == "deny"


def test_a_refused_session_is_told_once_when_the_file_is_free(repository: Path) -> None:
    path = repository / "src" / "app.py"
    hook(event("PreToolUse", "abc", repository, **edit(path)))
    assert hook(codex("PreToolUse", "xyz", repository, **edit(path)))["permissionDecision"] == "deny"
    asked = codex("UserPromptSubmit", "xyz", repository, prompt="go on")
    assert hook({**asked, "turn_id": "t2"}) == {}
    hook(event("Stop", "abc", repository))
    assert f"`{path}`, which you could not edit, is free now." in hook({**asked, "turn_id": "t3"})["additionalContext"]
    assert hook({**asked, "turn_id": "t4"}) == {}


def test_a_person_who_calls_it_gets_the_help() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "engram", "hook", "--help"], capture_output=True, text=True, check=True, stdin=None
    )
    assert "engram init" in done.stdout


def test_a_lock_that_was_asked_for_outlasts_the_turn_and_an_edit_under_it(repository: Path, tmp_path: Path) -> None:
    hook(event("SessionStart", "abc", repository))
    with Engram(tmp_path / "home") as engram:
        (session,) = engram.get_active_sessions()
        engram.lock_resource(session.id, "src/")
        assert hook(event("PreToolUse", "abc", repository, **edit(repository / "src" / "app.py"))) == {}
        hook(event("Stop", "abc", repository))
        assert [lock.resource for lock in engram.list_locks()] == [str(repository / "src")]


def test_nothing_is_claimed_where_the_user_does_not_want_it(repository: Path, tmp_path: Path) -> None:
    path = repository / "src" / "app.py"
    hook(event("PreToolUse", "abc", repository, **edit(path)), ENGRAM_AUTO_CLAIM="false")
    with Engram(tmp_path / "home") as engram:
        assert engram.list_locks() == []
        engram.lock_resource(engram.register("codex", "renaming", cwd=str(repository)), "src/")
        response = hook(event("PreToolUse", "abc", repository, **edit(path)), ENGRAM_AUTO_CLAIM="false")
    assert response["permissionDecision"] == "deny"


def test_a_patch_of_several_files_is_refused_as_a_whole(repository: Path, tmp_path: Path) -> None:
    patch = "*** Begin Patch\n*** Update File: src/app.py\n*** Add File: src/new.py\n*** End Patch"
    given = {"tool_name": "apply_patch", "tool_input": {"command": patch}}
    with Engram(tmp_path / "home") as engram:
        engram.lock_resource(engram.register("claude", "writing it", cwd=str(repository)), "src/new.py")
        assert hook(codex("PreToolUse", "xyz", repository, **given))["permissionDecision"] == "deny"
        assert len(engram.list_locks()) == 1


def test_a_notebook_is_guarded_like_any_file(repository: Path, tmp_path: Path) -> None:
    given = {"tool_name": "NotebookEdit", "tool_input": {"notebook_path": str(repository / "a.ipynb")}}
    with Engram(tmp_path / "home") as engram:
        engram.lock_resource(engram.register("codex", "plots", cwd=str(repository)), "a.ipynb")
        assert hook(event("PreToolUse", "abc", repository, **given))["permissionDecision"] == "deny"


def test_editing_a_file_that_changed_since_it_was_read_warns_once(repository: Path) -> None:
    path = repository / "src" / "app.py"
    hook(event("PostToolUse", "abc", repository, tool_name="Read", tool_input={"file_path": str(path)}))
    assert hook(event("PreToolUse", "abc", repository, **edit(path))) == {}
    path.write_text("print('changed by somebody')\n")
    response = hook(event("PreToolUse", "abc", repository, **edit(path)))
    assert "was changed by someone else after you read it" in response["additionalContext"]
    assert hook(event("PreToolUse", "abc", repository, **edit(path))) == {}


def test_a_sessions_own_edit_is_not_a_change_by_others(repository: Path) -> None:
    path = repository / "src" / "app.py"
    hook(event("PostToolUse", "abc", repository, tool_name="Read", tool_input={"file_path": str(path)}))
    path.write_text("print('mine')\n")
    hook(event("PostToolUse", "abc", repository, **edit(path)))
    assert hook(event("PreToolUse", "abc", repository, **edit(path))) == {}


def test_an_agent_that_hears_nothing_before_a_tool_is_warned_after_it(repository: Path) -> None:
    path = repository / "src" / "app.py"

    def gemini(name: str, tool: str) -> dict[str, Any]:
        given = {"tool_name": tool, "tool_input": {"file_path": str(path)}}
        return hook({**event(name, "g1", repository, **given), "transcript_path": "/home/me/.gemini/tmp/x.jsonl"})

    gemini("AfterTool", "read_file")
    path.write_text("print('changed by somebody')\n")
    assert gemini("BeforeTool", "replace") == {}
    assert "was changed by someone else after you read it" in gemini("AfterTool", "replace")["additionalContext"]


def test_a_command_that_changes_a_locked_file_is_reported_to_both(repository: Path, tmp_path: Path) -> None:
    path = repository / "src" / "app.py"
    with Engram(tmp_path / "home") as engram:
        holder = engram.register("codex", "renaming things", cwd=str(repository))
        engram.lock_resource(holder, "src/")
        assert hook(event("PreToolUse", "abc", repository, **shell("sed -i s/hello/bye/ src/app.py"))) == {}
        path.write_text("print('bye')\n")
        response = hook(event("PostToolUse", "abc", repository, **shell("sed -i s/hello/bye/ src/app.py")))
        assert f"{path} changed while your command ran" in response["additionalContext"]
        assert holder in response["additionalContext"]
        (message,) = engram.inbox(holder)
        assert "which you have locked, was changed" in message.body
        assert [entry.kind for entry in engram.activity()] == ["trespassed"]


def test_a_command_that_changes_no_locked_file_says_nothing(repository: Path, tmp_path: Path) -> None:
    with Engram(tmp_path / "home") as engram:
        holder = engram.register("codex", "renaming things", cwd=str(repository))
        engram.lock_resource(holder, "src/app.py")
        hook(event("PreToolUse", "abc", repository, **shell("touch src/app.py new.py")))
        os.utime(repository / "src" / "app.py")
        (repository / "new.py").write_text("x = 1\n")
        assert hook(event("PostToolUse", "abc", repository, **shell("touch src/app.py new.py"))) == {}
        assert engram.inbox(holder) == []


def test_messages_arrive_between_two_tools_as_well(repository: Path, tmp_path: Path) -> None:
    hook(event("SessionStart", "abc", repository))
    with Engram(tmp_path / "home") as engram:
        (session,) = engram.get_active_sessions()
        engram.send(None, session.id, "stop, the branch is frozen")
    response = hook(event("PostToolUse", "abc", repository, **shell("ls")))
    assert "| stop, the branch is frozen" in response["additionalContext"]


def test_grok_is_briefed_with_its_first_tool(repository: Path) -> None:
    def grok(name: str, **facts: Any) -> dict[str, Any]:
        named = {"hookEventName": name.lower(), "sessionId": "g1", "transcriptPath": "/home/me/.grok/sessions/x"}
        return hook({**event(name, "g1", repository, **facts), **named})

    assert grok("SessionStart") == {}
    assert grok("UserPromptSubmit", prompt="fix it") == {}
    given = {"tool_name": "read_file", "tool_input": {"target_file": "src/app.py"}}
    assert "You are session" in grok("PostToolUse", **given)["additionalContext"]
    assert grok("PostToolUse", **given) == {}


def test_copilot_is_briefed_once_whichever_of_prompt_and_start_comes_first(repository: Path) -> None:
    asked = {"sessionId": "c1", "cwd": str(repository), "timestamp": 1, "prompt": "fix it"}
    assert "You are session" in hook(asked)["additionalContext"]
    assert hook({"sessionId": "c1", "cwd": str(repository), "timestamp": 1, "source": "new"}) == {}
    assert hook({**asked, "prompt": "go on"}) == {}


def test_a_subagent_under_an_id_of_its_own_is_not_refused_what_its_parent_edits(repository: Path) -> None:
    """Copilot and Grok give subagents session ids; they run in the process of the session that started them."""
    call = "subprocess.run([sys.executable, '-m', 'engram', 'hook'], input=line, text=True)"
    code = f"import subprocess, sys; [{call} for line in sys.stdin]"
    agent = repository.parent / "copilot"  # a process named like an agent
    agent.symlink_to(sys.executable)

    def copilot(session: str, **facts: Any) -> str:
        return json.dumps({"sessionId": session, "cwd": str(repository), "timestamp": 1, **facts})

    change = {"toolName": "edit", "toolArgs": {"path": str(repository / "src" / "app.py")}}
    lines = [copilot("main", source="new"), copilot("main", **change), copilot("sub", **change)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [str(agent), "-c", code], input="\n".join(lines), capture_output=True, text=True, env=env, check=True
    )
    assert "You are session" in done.stdout
    assert "deny" not in done.stdout
    with Engram(os.environ["ENGRAM_HOME"]) as engram:
        assert [session.native_id for session in engram.get_active_sessions()] == ["main"]


def test_the_end_completes_the_session(repository: Path, tmp_path: Path) -> None:
    hook(event("SessionStart", "abc", repository))
    hook(event("SessionEnd", "abc", repository, reason="logout"))
    with Engram(tmp_path / "home") as engram:
        (done,) = engram.get_recent_sessions()
        assert "logout" in (done.completion_summary or "")
        hook(event("Stop", "abc", repository))  # Grok repeats the event after the end
        assert engram.get_active_sessions() == []


@pytest.mark.parametrize("payload", ["", "{", "[]", "null", '{"session_id": 7}', '{"session_id": "\\ud800"}', "\x00"])
def test_whatever_arrives_the_agent_goes_on(payload: str) -> None:
    assert hook(payload, "claude", "prompt") == {}


def test_a_store_that_cannot_be_used_is_written_down_and_the_agent_goes_on(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "engram.db").write_text("not a database " * 50)
    assert hook(event("SessionStart", "abc", repository)) == {}
    (fired,) = log(tmp_path)
    assert (fired.flavor, fired.event) == ("claude", "start")
    assert "NotAStore" in fired.problem


def test_settings_that_make_no_sense_are_written_down_and_the_agent_goes_on(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.toml").write_text("nonsense = 1")
    assert hook(event("SessionStart", "abc", repository)) == {}
    assert "SettingsInvalid" in log(tmp_path)[0].problem


def test_a_server_that_is_away_is_asked_once_in_a_while(repository: Path, tmp_path: Path) -> None:
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))  # there is no server
        store = f"postgresql://me@127.0.0.1:{door.getsockname()[1]}/engram"
        for _ in range(2):
            assert hook(event("SessionStart", "abc", repository), ENGRAM_STORE=store) == {}
        first = (tmp_path / "home" / "store.away").stat().st_mtime_ns
        hook(event("Stop", "abc", repository), ENGRAM_STORE=store)
        assert (tmp_path / "home" / "store.away").stat().st_mtime_ns == first
    assert ["cannot reach the store" in fired.problem for fired in log(tmp_path)[:3]] == [True] * 3


def test_hooks_reach_a_server_that_is_there(repository: Path, tmp_path: Path, postgres_store: str) -> None:
    response = hook(event("SessionStart", "abc", repository), ENGRAM_STORE=postgres_store)
    assert "You are session" in response["additionalContext"]


def test_context_is_never_too_long(repository: Path, tmp_path: Path) -> None:
    with Engram(tmp_path / "home") as engram:
        for number in range(30):
            engram.register("codex", f"task {number} " + "ü" * 90, cwd=str(repository))
        engram.set_world_state("wörld " * 800, project=str(repository))
    response = hook(event("SessionStart", "abc", repository), ENGRAM_START_TOKENS="100000")
    assert len(response["additionalContext"].encode()) <= MAX_CONTEXT_CHARS
    assert "truncated. See `engram" in response["additionalContext"]


def test_the_log_of_hooks_does_not_grow_for_ever(tmp_path: Path) -> None:
    home = str(tmp_path / "home")
    for _ in range(3):
        hook_log.write_entry(home, "claude", "start", 0.01, "x" * 900)
    path = tmp_path / "home" / "hook.log"
    path.write_text(path.read_text() * 400)
    hook_log.write_entry(home, "claude", "prompt", 0.02)
    assert not path.exists()
    hook_log.write_entry(home, "claude", "stop", 0.02)
    assert [fired.event for fired in hook_log.read_recent(home)][-2:] == ["prompt", "stop"]


def test_an_edit_of_a_file_that_is_edited_in_another_clone_is_allowed_with_one_notice(
    repository: Path, tmp_path: Path
) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(repository), str(clone))
    hook(event("SessionStart", "abc", repository))
    hook(event("SessionStart", "xyz", clone))
    hook(event("PreToolUse", "abc", repository, **edit(repository / "src" / "app.py")))
    told = hook(event("PreToolUse", "xyz", clone, **edit(clone / "src" / "app.py")))
    assert "permissionDecision" not in told
    assert "the same file in another clone" in told["additionalContext"]
    assert str(repository / "src" / "app.py") in told["additionalContext"]
    assert "\n" not in told["additionalContext"]
    assert hook(event("PreToolUse", "xyz", clone, **edit(clone / "src" / "app.py"))) == {}
    assert hook(event("PreToolUse", "xyz", clone, **edit(clone / "src" / "other.py"))) == {}


def test_a_hook_loads_nothing_it_does_not_need(repository: Path) -> None:
    """Keep cold starts fast: count the modules an edit loads; the benchmark measures the time."""
    code = (
        "import os, sys; os._exit = lambda _: (print(*sys.modules, file=sys.stderr), sys.stderr.flush(), os.abort());"
        "from engram.surfaces.hooks import main; main([])"
    )
    given = json.dumps(event("PreToolUse", "abc", repository, **edit(repository / "src" / "app.py")))
    hook(event("SessionStart", "abc", repository))
    loaded = subprocess.run(
        [sys.executable, "-I", "-c", code], input=given, capture_output=True, text=True, check=False
    )
    heavy = {"dataclasses", "inspect", "typing", "click", "asyncio", "pathlib", "datetime", "subprocess", "socket",
             "json", "re", "enum", "hashlib", "numpy", "orjson", "contextlib"}  # fmt: skip
    bare = [sys.executable, "-I", "-c", "import sys; print(*sys.modules)"]
    before = subprocess.run(bare, capture_output=True, text=True, check=True)
    assert "engram.sessions.file_edits" in loaded.stderr.split()
    assert heavy & set(loaded.stderr.split()) - set(before.stdout.split()) == set()


def test_a_secret_in_a_prompt_is_not_shown_to_other_sessions(repository: Path, tmp_path: Path) -> None:
    secret = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"  # split, so that this file is not redacted
    hook(event("SessionStart", "abc", repository))
    hook(event("UserPromptSubmit", "abc", repository, prompt=f"deploy with {secret}, please"))
    told = hook(event("SessionStart", "xyz", repository))["additionalContext"]
    assert "deploy with [REDACTED:" in told
    assert secret not in told
    assert secret.encode() not in (tmp_path / "home" / "engram.db").read_bytes()
    assert secret.encode() not in (tmp_path / "home" / "engram.db-wal").read_bytes()


def test_a_spool_that_cannot_be_written_does_not_keep_locks_from_being_released(tmp_path: Path) -> None:
    repository = tmp_path / "new"  # without a commit: its history is not read at the start, which would use the spool
    (repository / "src").mkdir(parents=True)
    git(repository, "init", "-q")
    hook(event("SessionStart", "abc", repository))
    hook(event("PreToolUse", "abc", repository, **edit(repository / "src" / "app.py")))
    (tmp_path / "home" / "spool").write_text("in the way")
    hook(event("Stop", "abc", repository))
    with Engram(tmp_path / "home") as engram:
        assert engram.list_locks() == []
        hook(event("SessionEnd", "abc", repository, reason="exit"))
        assert engram.get_active_sessions() == []
    assert "FileExistsError" in log(tmp_path)[-1].problem


def test_a_prompt_of_any_length_brings_the_news_and_says_nothing_else(repository: Path, tmp_path: Path) -> None:
    hook(event("SessionStart", "abc", repository))
    with Engram(tmp_path / "home") as engram:
        engram.send(None, engram.get_active_sessions()[0].id, "the schema changed")
    response = hook(
        event("UserPromptSubmit", "abc", repository, prompt="why does this fail? " + "log line\n" * 200_000)
    )
    assert "the schema changed" in response["additionalContext"]
    assert [fired.problem for fired in log(tmp_path)] == ["", ""]


def test_a_failed_recall_is_logged_and_messages_are_delivered(repository: Path, tmp_path: Path) -> None:
    hook(event("SessionStart", "abc", repository))
    with Engram(tmp_path / "home") as engram:
        engram.send(None, engram.get_active_sessions()[0].id, "the schema changed")
        engram.engine.run("drop table case_anchors")
        engram.engine.run("drop table cases")
    response = hook(event("UserPromptSubmit", "abc", repository, prompt="which port does the billing service use?"))
    assert "the schema changed" in response["additionalContext"]
    assert [fired.problem for fired in log(tmp_path) if "Memory search failed" in fired.problem]


def test_a_flavor_of_several_words_is_one_word_in_the_log(tmp_path: Path) -> None:
    hook_log.write_entry(str(tmp_path / "home"), "my agent\nx", "start", 0.001)
    assert [(fired.flavor, fired.event) for fired in log(tmp_path)] == [("my-agent-x", "start")]
