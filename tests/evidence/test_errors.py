"""An error is joined to what ended it: the change or the command after which the same thing passed."""

from __future__ import annotations

from pathlib import Path

import pytest

from engram import Engram, EpisodeError
from tests.capture.transcripts import Claude
from tests.evidence.test_episodes import calls, edits


@pytest.fixture
def claude(tmp_path: Path) -> Claude:
    return Claude(tmp_path / "agents")


def read_errors(engram: Engram, transcript: Claude) -> list[EpisodeError]:
    engram.ingest([str(transcript.path)])
    return [error for episode in engram.list_episodes(transcript.session) for error in episode.errors]


def test_the_change_that_touches_what_a_failing_test_names_is_its_fix(engram: Engram, claude: Claude) -> None:
    claude.says("Make the tests pass")
    claude.runs("go test ./...", "--- FAIL: TestParse (0.01s)\n    parser_test.go:12: got 1\nFAIL", 1)
    edits(claude, "/home/me/app/README.md", "old words", "new words")
    edits(claude, "/home/me/app/parser.go", "return 1", "return 2")
    claude.runs("go test ./...", "ok  \tapp\t0.1s")
    (error,) = read_errors(engram, claude)
    assert error.fix == "changed parser.go: `return 1` → `return 2`"
    assert (error.fix_kind, error.passing, error.verified) == ("files changed", "go test ./...", True)
    assert "parser_test.go" in error.names


def test_a_command_that_did_the_same_job_is_the_fix_of_a_failed_one(engram: Engram, claude: Claude) -> None:
    claude.says("Run the tests")
    claude.runs("pytest tests", "/bin/bash: line 1: pytest: command not found", 127)
    claude.runs("git log --oneline", "abc one")
    claude.runs("uv run pytest tests", "3 passed in 0.1s")
    (error,) = read_errors(engram, claude)
    assert error.fix == "ran `uv run pytest tests` instead of `pytest tests`"
    assert (error.fix_kind, error.shape) == ("command replaced", "pytest")
    assert error.signature == "command not found: pytest"


def test_what_was_installed_in_between_is_the_fix(engram: Engram, claude: Claude) -> None:
    claude.says("Show the version")
    claude.runs("node scripts/version.js", "Error: Cannot find module 'left-pad'", 1)
    claude.runs("npm install left-pad", "added 1 package")
    claude.runs("node scripts/version.js", "1.2.3")
    (error,) = read_errors(engram, claude)
    assert (error.fix, error.fix_kind) == ("ran `npm install left-pad`, then it passed", "setup")


def test_another_command_about_the_same_file_is_no_fix(engram: Engram, claude: Claude) -> None:
    claude.says("Compare")
    claude.runs("git diff src/colors.py", "fatal: ambiguous argument 'src/colors.py': unknown revision", 128)
    claude.runs("git add src/colors.py", "")
    (error,) = read_errors(engram, claude)
    assert error.fix == ""


def test_a_check_of_something_else_ends_no_error(engram: Engram, claude: Claude) -> None:
    claude.says("Make the tests pass")
    claude.runs("pytest tests/test_paths.py", "FAILED tests/test_paths.py::test_join - assert 1\n1 failed in 1s", 1)
    edits(claude, "/home/me/app/paths.py")
    claude.runs("pytest tests/test_words.py", "3 passed in 0.1s")
    (error,) = read_errors(engram, claude)
    assert error.fix == ""


def test_a_compiler_error_that_is_gone_is_fixed_though_others_remain(engram: Engram, claude: Claude) -> None:
    claude.says("Build it")
    claude.runs("go build ./...", "log.go:3:2: undefined: Debugf", 1)
    edits(claude, "/home/me/app/log.go", "type L int", "type L int\nfunc Debugf() {}")
    claude.runs("go build ./...", "log.go:9:2: undefined: Warnf", 1)
    first, second = read_errors(engram, claude)
    assert (first.fix, first.verified) == ("changed log.go: added `func Debugf() {}`", False)
    assert second.fix == ""


def test_a_refused_edit_is_a_routine_matter(engram: Engram, claude: Claude) -> None:
    path = {"file_path": "/home/me/app/a.py"}
    change = {**path, "old_string": "a = 1", "new_string": "a = 2"}
    claude.says("Change a.py")
    calls(claude, "Edit", change, "File has not been read yet. Read it first before writing to it.", refused=True)
    calls(claude, "Read", path, "a = 1")
    calls(claude, "Edit", change, "edited")
    (error,) = read_errors(engram, claude)
    assert (error.fix, error.fix_kind) == ("read a.py again, then edited it: `a = 1` → `a = 2`", "retried")


@pytest.mark.parametrize(
    ("command", "output", "code"),
    [
        ("grep -rn nothing src", "", 1),
        ("ls missing", "ls: cannot access 'missing': No such file or directory", 2),
        ("git stash && pytest -q; git stash pop", "FAILED tests/test_a.py::test_b\n1 failed in 1s", 1),
        ("pytest -q | tail -3", "WARNING: connection failed, retrying\n4 passed in 0.2s", 0),
    ],
)
def test_what_is_no_error(engram: Engram, claude: Claude, command: str, output: str, code: int) -> None:
    claude.says("Look around")
    claude.runs(command, output, code)
    assert read_errors(engram, claude) == []


def test_an_error_message_behind_a_pipe_is_an_error(engram: Engram, claude: Claude) -> None:
    claude.says("Push")
    claude.runs("git push 2>&1 | tail -3", "fatal: could not read from remote repository")
    (error,) = read_errors(engram, claude)
    assert error.signature == "fatal: could not read from remote repository"


def test_signatures_are_the_same_on_every_machine(engram: Engram, tmp_path: Path) -> None:
    signatures = set()
    for number, place in enumerate(("/home/ann/a/src/x.py:10", "/srv/b/src/x.py:99")):
        transcript = Claude(tmp_path / str(number))
        transcript.says("Check")
        transcript.runs("mypy", f"{place}: error: Name 'foo' is not defined", 1)
        signatures |= {error.signature for error in read_errors(engram, transcript)}
    assert len(signatures) == 1


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_later_session_in_which_the_check_passes_closes_the_error(
    engram: Engram, tmp_path: Path, order: tuple[int, int]
) -> None:
    first, second = Claude(tmp_path / "agents"), Claude(tmp_path / "agents")
    first.says("Make the tests pass")
    first.runs("pytest -q", "FAILED tests/test_a.py::test_b - assert 1 == 2\n1 failed in 0.1s", 1)
    second.clock = 600
    second.says("Try again")
    second.runs("pytest -q", "3 passed in 0.1s")
    for number in order:
        engram.ingest([str((first, second)[number].path)])
    (error,) = read_errors(engram, first)
    assert error.fix == ""
    assert error.fixed_in is not None
    assert engram.get_session(error.fixed_in).native_id == second.session


def test_a_script_written_after_one_on_the_command_line_failed_is_its_fix(engram: Engram, claude: Claude) -> None:
    claude.says("Fix the bytes of the fixture")
    claude.runs('python3 -c "import io"', "IndentationError: unexpected indent", 1)
    edits(claude, "/tmp/scratch/fix_bytes.py")
    claude.runs('python3 "/tmp/scratch/fix_bytes.py"', "done")
    (error,) = read_errors(engram, claude)
    assert error.fix == 'wrote fix_bytes.py and ran it: `python3 "/tmp/scratch/fix_bytes.py"`'


def test_the_command_that_made_a_missing_file_is_the_fix(engram: Engram, claude: Claude) -> None:
    claude.says("Try the new build")
    claude.runs("./out/app.exe print primary", "bash: ./out/app.exe: No such file or directory", 127)
    claude.runs("go build -o ./out/app.exe .")
    claude.runs("./out/app.exe print primary --plain", "prompt")
    (error,) = read_errors(engram, claude)
    assert error.fix == "ran `go build -o ./out/app.exe .`, then it passed"


def test_what_the_agent_announces_and_does_instead_is_the_fix(engram: Engram, claude: Claude) -> None:
    claude.says("Update the description of the pull request")
    claude.runs("gh pr edit 12 --body new", "GraphQL: Projects (classic) is being deprecated", 1)
    claude.answers("`gh pr edit` fails, so I'm switching to the REST endpoint for the body of the pull request.")
    claude.runs("gh pr view 12", "open")
    claude.runs("gh api repos/me/app/pulls/12 -X PATCH -f body=new", "ok")
    (error,) = read_errors(engram, claude)
    assert error.fix.startswith("`gh pr edit` fails, so I'm switching to the REST endpoint")
    assert "gh api repos/me/app/pulls/12" in error.fix


def test_the_same_slip_in_two_commands_is_two_errors(engram: Engram, claude: Claude) -> None:
    claude.says("Look for the client")
    claude.runs("go doc posthog(Config", "(eval):1: parse error near `('", 1)
    claude.runs("cargo doc posthog(Config", "(eval):1: parse error near `('", 1)
    assert len(read_errors(engram, claude)) == 2


def test_a_linter_among_several_checks_ends_its_error(engram: Engram, claude: Claude) -> None:
    claude.says("Make the linter happy")
    claude.runs("golangci-lint run", "config/segment.go:12:1: File is not properly formatted (gofmt)", 1)
    claude.runs("gofmt -w . && go test ./... && golangci-lint run", "ok  \tapp/config\t0.1s\n0 issues.")
    (error,) = read_errors(engram, claude)
    assert error.fix == "ran `gofmt -w . && go test ./... && golangci-lint run` instead of `golangci-lint run`"
