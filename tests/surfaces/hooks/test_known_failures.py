"""What an agent is told of a command that failed here before: after it failed again, and before it runs again."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engram import Engram
from engram.platform.text import count_tokens
from engram.store import pushes
from tests.capture.transcripts import Claude
from tests.surfaces.hooks.test_hooks import codex, edit, event, hook, log, shell

FAILED = 'error: Script not found "test"'
PASSED = "12 pass\n 0 fail\nRan 12 tests across 3 files."


@pytest.fixture(autouse=True, params=["sqlite", "postgres"])
def on_each_engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the hooks of each test use one store of either engine."""
    if request.param == "postgres":
        monkeypatch.setenv("ENGRAM_STORE", request.getfixturevalue("postgres_store"))


def replace_command(home: Path, root: Path, failed: str, passed: str, output: str = FAILED) -> Claude:
    """Write a session in which a command fails and another one does its job."""
    chat = Claude(home, cwd=str(root))
    chat.says("Run the tests of the parser, please.")
    chat.runs(failed, output, 1)
    chat.runs(passed, PASSED)
    chat.answers("All tests pass.")
    return chat


def ingest(home: Path) -> None:
    with Engram() as engram:
        engram.ingest([str(home / ".claude")])


def fail(root: Path, command: str, output: str = FAILED, session: str = "asks") -> str:
    """Report a command that failed as Claude Code does, and return what it is told."""
    facts = {**shell(command), "error": f"Exit code 1\n{output}", "is_interrupt": False}
    return str(hook(event("PostToolUseFailure", session, root, **facts)).get("additionalContext", ""))


def begin(root: Path, command: str, session: str = "asks") -> str:
    return str(hook(event("PreToolUse", session, root, **shell(command))).get("additionalContext", ""))


def test_a_failure_is_answered_by_the_command_that_worked(home: Path, repository: Path) -> None:
    for _ in range(2):
        replace_command(home, repository, "rtk bun run test", "bun run test")
    ingest(home)
    told = fail(repository, "rtk bun run test")
    assert "`rtk bun run test` failed like this before; `bun run test` worked (2 times, last Nov 1)." in told
    assert count_tokens(told) <= 120
    assert fail(repository, "rtk bun run test") == ""  # once for each session
    with Engram() as engram:
        (row,) = pushes.list_recent(engram.engine, 0, 10)
        assert (row["moment"], row["shown"], row["content"]) == ("failure", 1, told)


def test_nothing_is_said_of_a_command_that_worked_whatever_it_prints(home: Path, repository: Path) -> None:
    replace_command(home, repository, "rtk bun run test", "bun run test")
    ingest(home)
    result = {"stdout": FAILED, "stderr": FAILED, "interrupted": False}
    assert hook(event("PostToolUse", "asks", repository, **shell("rtk bun run test"), tool_response=result)) == {}
    assert hook(codex("PostToolUse", "more", repository, **shell("rtk bun run test"), tool_response=FAILED)) == {}


def test_every_agent_that_reports_a_status_is_told(home: Path, repository: Path) -> None:
    replace_command(home, repository, "rtk bun run test", "bun run test")
    ingest(home)
    command = "rtk bun run test"
    gemini = event("AfterTool", "g", repository, tool_name="run_shell_command", tool_input={"command": command})
    gemini["transcript_path"] = "/home/me/.gemini/tmp/x.json"
    grok = {**event("PostToolUse", "k", repository, tool_name="run_terminal_command", tool_input={"command": command}),
            "hookEventName": "post_tool_use", "sessionId": "k"}  # fmt: skip
    copilot = {
        "sessionId": "c",
        "cwd": str(repository),
        "toolName": "bash",
        "toolArgs": json.dumps({"command": command}),
    }
    opencode = {**event("PostToolUse", "o", repository, tool_name="bash", tool_input={"command": command}),
                "flavor": "opencode", "transcript_path": ""}  # fmt: skip
    ended = "completed with exit code"
    results: list[tuple[dict[str, Any], str, Any, Any]] = [
        (gemini, "tool_response", {"llmContent": f"Output: {FAILED}\nExit Code: 1\nProcess Group PGID: 9"},
         {"llmContent": f"Output: {FAILED}\nProcess Group PGID: 9"}),
        (grok, "tool_response", {"output_for_prompt": f"exit: 1\n{FAILED}\n", "exit_code": 1},
         {"output_for_prompt": f"exit: 0\n{FAILED}\n", "exit_code": 0}),
        (copilot, "toolResult", {"resultType": "success", "textResultForLlm": f"{FAILED}\n<shellId: 0 {ended} 1>"},
         {"resultType": "success", "textResultForLlm": f"{FAILED}\n<shellId: 0 {ended} 0>"}),
        (opencode, "tool_response", {"output": FAILED, "exit": 1}, {"output": FAILED, "exit": 0}),
    ]  # fmt: skip
    for payload, field, failed, worked in results:
        hook({**payload, field: worked})  # the briefing of an agent that misses its start
        assert "failed like this" not in str(hook({**payload, field: worked}))
        assert "`bun run test` worked" in str(hook({**payload, field: failed})), payload


def test_only_a_fix_that_was_verified_and_is_not_contradicted_is_told(home: Path, repository: Path) -> None:
    replace_command(home, repository, "rtk bun run test", "bun run test")
    other = replace_command(home, repository, "rtk bun run test", "bunx bun run test")
    ingest(home)
    assert fail(repository, "rtk bun run test") == ""  # two say different things
    with Engram() as engram:
        engram.delete_session(
            next(s.session.id for s in engram.list_sessions() if s.session.native_id == other.session)
        )
    assert "`bun run test` worked" in fail(repository, "rtk bun run test", session="later")
    chat = Claude(home, cwd=str(repository))
    chat.says("Build the site, please.")
    chat.runs("mkdocs build", "Error: Config file 'mkdocs.yml' does not exist.", 1)
    chat.answers("I cannot build it.")
    ingest(home)
    assert fail(repository, "mkdocs build", "Error: Config file 'mkdocs.yml' does not exist.") == ""


def test_a_command_in_the_wrong_directory_is_told_where_it_worked(home: Path, repository: Path) -> None:
    failed = "git add src/app.py && git commit -m 'Fix'"
    message = "fatal: pathspec 'src/app.py' did not match any files"
    chat = Claude(home, cwd=str(repository))
    chat.says("Commit the fix of the parser.")
    chat.runs(failed, message, 128)
    chat.runs(f"cd {repository} && {failed}", "[main 1a2b3c4] Fix\n 1 file changed")
    ingest(home)
    told = fail(repository, "git add src/other.py", "fatal: pathspec 'src/other.py' did not match any files")
    assert f"it worked after `cd {repository}` (1 time, last Nov 1)." in told
    assert fail(repository, "git add x.py", "fatal: pathspec 'x.py' did not match any files", "more") == ""


def test_a_test_that_fails_again_is_told_what_made_it_pass(home: Path, repository: Path) -> None:
    message = "--- FAIL: TestParse (0.01s)\n    parser_test.go:12: got 1\nFAIL"
    chat = Claude(home, cwd=str(repository))
    chat.says("Make the tests pass, they fail since the release.")
    chat.runs("go test ./...", message, 1)
    chat.answers("The root cause is that parse drops the last byte in parser.go.")
    chat.edits(f"{repository}/parser.go", "return 1", "return 2")
    chat.runs("go test ./...", "ok  \tapp\t0.1s")
    ingest(home)
    assert "it passed after: changed parser.go" in fail(repository, "go test ./...", message)
    assert fail(repository, "go test ./...", message.replace("TestParse", "TestLex"), "more") == ""


def test_a_command_that_always_failed_is_stopped_before_it_runs_once(home: Path, repository: Path) -> None:
    for _ in range(2):
        replace_command(home, repository, "rtk bun run test", "bun run test")
    ingest(home)
    told = begin(repository, "rtk bun run test src/lexer.test.ts")
    assert "failed here 2 of 2 times" in told
    assert "Script not found" in told
    assert "`bun run test` worked, last Nov 1." in told
    assert count_tokens(told) <= 120
    assert begin(repository, "rtk bun run test src/lexer.test.ts") == ""
    assert begin(repository, "bun run test", "more") == ""
    assert begin(repository, "rtk git status", "more") == ""


def test_a_command_that_failed_once_or_works_again_is_not_stopped(home: Path, repository: Path) -> None:
    replace_command(home, repository, "rtk bun run test", "bun run test")
    ingest(home)
    assert begin(repository, "rtk bun run test") == ""
    chat = replace_command(home, repository, "rtk bun run test", "bun run test")
    for _ in range(2):
        chat.runs("rtk bun run test", PASSED)
    ingest(home)
    assert begin(repository, "rtk bun run test", "later") == ""


def test_an_agent_that_hears_nothing_before_a_tool_is_told_after_it_failed(home: Path, repository: Path) -> None:
    for _ in range(2):
        replace_command(home, repository, "rtk bun run test", "bun run test")
    ingest(home)

    def gemini(name: str, **more: Any) -> dict[str, Any]:
        facts = {"tool_name": "run_shell_command", "tool_input": {"command": "rtk bun run test"}, **more}
        return hook({**event(name, "g", repository, **facts), "transcript_path": "/home/me/.gemini/tmp/x.json"})

    assert gemini("BeforeTool") == {}
    assert gemini("AfterTool", tool_response={"llmContent": "Output: ok"}) == {}
    failed = {"llmContent": "Output: something else broke\nExit Code: 1"}
    assert "failed here 2 of 2 times" not in str(gemini("AfterTool", tool_response=failed))


def refuse(home: Path, root: Path, command: str, reason: str) -> None:
    """Write a session in which a person refuses a command for a reason."""
    chat = Claude(home, cwd=str(root))
    chat.says("Clean up the build directory, please.")
    call = "toolu_refused"
    block = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}
    chat.write(chat.record("assistant", message={"id": "m1", "role": "assistant", "content": [block]}))
    said = (
        "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, "
        f"the user said:\n{reason}"
    )
    result = {"type": "tool_result", "tool_use_id": call, "content": said, "is_error": True}
    chat.write(chat.record("user", message={"role": "user", "content": [result]}, toolUseResult=f"Error: {said}"))
    chat.answers("Understood.")


def test_a_command_that_a_person_refused_is_not_tried_again_in_silence(home: Path, repository: Path) -> None:
    refuse(home, repository, "rm -rf dist/cache", "never delete dist/cache by hand, always run make clean instead")
    ingest(home)
    told = begin(repository, "rm -rf dist/cache")
    assert "a person refused `rm -rf dist/cache` here on Nov 1" in told
    assert "always run make clean instead" in told
    assert begin(repository, "rm -rf dist/cache") == ""
    assert begin(repository, "rm -rf node_modules", "more") == ""


def test_what_a_person_never_wants_is_not_given_again_in_the_project(home: Path, repository: Path) -> None:
    replace_command(home, repository, "rtk bun run test", "bun run test")
    ingest(home)
    assert fail(repository, "rtk bun run test")
    with Engram() as engram:
        (given,) = engram.list_pushed()
        assert engram.judge_pushed(given.id, "useful").verdict == "useful"
        assert fail(repository, "rtk bun run test", session="second")
        engram.judge_pushed(given.id, "wrong")
        assert fail(repository, "rtk bun run test", session="third") == ""
        engram.judge_pushed(given.id, "never")
        assert fail(repository, "rtk bun run test", session="fourth") == ""
        engram.judge_pushed(given.id, "none")
        assert fail(repository, "rtk bun run test", session="fifth")


def test_in_shadow_everything_is_recorded_and_nothing_said(
    home: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_command(home, repository, "rtk bun run test", "bun run test")
    ingest(home)
    monkeypatch.setenv("ENGRAM_TOOL_RECALL", "shadow")
    assert fail(repository, "rtk bun run test") == ""
    with Engram() as engram:
        (given,) = engram.list_pushed()
        assert (given.shown, given.moment) == (False, "failure")
    monkeypatch.setenv("ENGRAM_TOOL_RECALL", "off")
    assert fail(repository, "rtk bun run test", session="more") == ""
    with Engram() as engram:
        assert len(engram.list_pushed()) == 1


def test_the_log_has_one_line_for_an_event_with_a_problem(home: Path, repository: Path, tmp_path: Path) -> None:
    replace_command(home, repository, "rtk bun run test", "bun run test")
    ingest(home)
    with Engram() as engram:
        engram.engine.run("update session_errors set facts = 'no json'")
    assert fail(repository, "rtk bun run test") == ""
    last = log(tmp_path)[-1]
    assert (last.event, last.problem.partition(".")[0]) == ("after", "Memory search failed")
    assert [entry.event for entry in log(tmp_path)].count("after") == 1


def test_the_command_line_lists_what_was_given_and_takes_a_verdict(home: Path, repository: Path) -> None:
    replace_command(home, repository, "rtk bun run test", "bun run test")
    ingest(home)
    fail(repository, "rtk bun run test")

    def pushed(*words: str) -> Any:
        command = [sys.executable, "-m", "engram", "pushed", *words, "--json"]
        return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, cwd=repository).stdout)

    (given,) = pushed("--since", "7d", "-p")
    assert (given["moment"], given["verdict"], given["shown"]) == ("failure", None, True)
    assert given["reason"] == "failed with: error: script not found <text>"
    assert pushed(f"#{given['id']}", "never")["verdict"] == "never"
    assert fail(repository, "rtk bun run test", session="more") == ""
    plain = subprocess.run([sys.executable, "-m", "engram", "pushed"], capture_output=True, text=True, check=True)
    assert f"#{given['id']}" in plain.stdout
    assert "never" in plain.stdout


def test_the_person_sees_at_the_start_what_is_known(home: Path, repository: Path) -> None:
    assert "systemMessage" not in start(repository, "first")
    chat = Claude(home, cwd=str(repository))
    chat.says("Round the totals of the invoice.")
    chat.answers("I propose to round every line of the invoice in export.py.")
    chat.says("No, never round the lines in export.py: round only the total to 0.05.")
    chat.answers("Understood.")
    ingest(home)
    assert start(repository, "second")["systemMessage"] == "Engram: 1 decision known here."


def start(root: Path, session: str) -> dict[str, Any]:
    payload = json.dumps(event("SessionStart", session, root, source="startup"))
    done = subprocess.run(
        [sys.executable, "-m", "engram", "hook"], input=payload, capture_output=True, text=True, check=True
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_the_first_edit_of_a_file_tells_what_was_decided_about_it(home: Path, repository: Path) -> None:
    chat = Claude(home, cwd=str(repository))
    chat.says("Summing floats loses centimes, look at src/app.py.")
    chat.answers("I propose to use floats with a correction in src/app.py.")
    chat.says("No, never use floats in src/app.py: all amounts must be Decimal, the auditors demand it.")
    chat.answers("Understood.")
    ingest(home)
    path = repository / "src" / "app.py"
    assert "must be Decimal" in str(hook(event("PreToolUse", "edits", repository, **edit(path))))
    assert hook(event("PreToolUse", "edits", repository, **edit(path))) == {}
    read = {"tool_name": "Read", "tool_input": {"file_path": str(path)}, "tool_response": {"file": {"content": ""}}}
    assert "must be Decimal" in str(hook(event("PostToolUse", "reads", repository, **read)))
    hook(event("Stop", "edits", repository))
    assert hook(event("PreToolUse", "reads", repository, **edit(path))) == {}


def test_a_refusal_says_in_200_characters_who_holds_a_file_and_what_to_do(repository: Path) -> None:
    deep = repository / "src" / ("a_directory_with_a_long_name" * 4) / "app.py"
    hook(event("UserPromptSubmit", "abc", repository, prompt="rename every function of the parser and its tests"))
    hook(event("PreToolUse", "abc", repository, **edit(deep)))
    refused = hook(codex("PreToolUse", "xyz", repository, **edit(deep)))["permissionDecisionReason"]
    assert len(refused) < 200
    assert refused.startswith("This is locked by ")
    assert refused.index("message them") < refused.index("app.py")
