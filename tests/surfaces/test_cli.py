"""The command line for people and scripts."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from engram import Engram
from engram.operation import list_operations
from engram.surfaces.cli.command_table import COMMANDS
from engram.surfaces.cli.root_group import build_command_line
from tests.surfaces.conftest import Run

# Operations that a command calls under another name.
BY_HAND = ["recall", "remember", "index", "delete", "sessions", "show", "ingest", "locks", "unlock", "serve", "config"]
BY_HAND += ["ask", "flush", "init", "uninit", "doctor", "demo", "digest"]
BY_HAND += ["dream", "dream log", "dream drives"]
BY_HAND += ["wiki history"]
BY_HAND += ["patterns review", "patterns edit", "patterns import", "patterns distribute"]
ELSEWHERE = {
    "ask": "ask", "flush": "flush", "edit_page": "wiki edit",
    "list_versions": "gist --history", "get_version": "gist --version", "restore_version": "gist --restore",
    "restore_page": "wiki show --restore", "restore_rule": "patterns show --restore",
    "get_session": "show", "get_capture": "show --json", "get_children": "show", "get_events": "show --events",
    "get_outline": "show --outline", "locate_event": "show --from",
    "recall": "recall", "recall_summaries": "recall --in gist", "recall_eras": "recall --in era", "index": "index",
    "remember": "remember", "add_exchanges_bulk": "import lyra", "ensure_session": "remember -s",
    "delete_session": "delete", "list_pushed": "pushed", "judge_pushed": "pushed NUMBER VERDICT",
    "ingest": "ingest", "get_digest": "digest", "rebuild_digests": "digest --all",
    "list_sessions": "sessions --captured",
    "situation": "sitrep --json", "get_active_sessions": "sessions", "get_recent_sessions": "sessions --recent",
    "lock_resource": "lock", "release_resource": "unlock", "release_all": "unlock --all", "check_locks": "locks NAME",
    "list_locks": "locks", "get_world_state": "world show", "check_edit": "hook",
    "detect": "patterns detect", "edit_pattern": "patterns edit", "import_catalog": "patterns import",
    "distribute": "patterns distribute",
    "dream": "dream", "get_drives": "dream drives", "foresee_dream": "dream --dry-run", "dream_log": "dream log",
    "undo_dream": "dream --undo",
    "init": "init", "uninit": "uninit", "doctor": "doctor",
}  # fmt: skip


def registered(run: Run, summary: str = "fix the parser") -> str:
    return run("register", summary).stdout.strip()


def test_every_operation_has_a_command() -> None:
    reached = {command.operation.partition(":")[2] for command in COMMANDS} | set(ELSEWHERE)
    assert {operation.name for operation in list_operations()} - reached == set()


@pytest.mark.parametrize("command", [c.path for c in COMMANDS] + BY_HAND)
def test_every_command_explains_itself_and_takes_json(run: Run, command: str) -> None:
    text = run(*command.split(), "--help").stdout
    assert "--json" in text
    assert "Usage: engram" in text


def test_the_first_sitrep_says_how_to_begin(run: Run) -> None:
    assert run("sitrep").stdout.startswith("No world state set yet")


def test_many_locks_are_answered_with_their_number_and_the_first(run: Run) -> None:
    me = registered(run)
    names = [f"file:{n}" for n in range(300)]
    for done in (run("lock", *names, "-s", me), run("unlock", "--all", "-s", me)):
        first, *lines, last = done.stdout.splitlines()
        assert (first, len(lines), last) == ("300 locks; the first 10:", 10, "… and 290 more.")
    assert len(json.loads(run("lock", *names, "-s", me, "--json").stdout)) == 300


def test_a_day_on_the_command_line(run: Run) -> None:
    me = registered(run)
    you = registered(run, "write tests")
    token = json.loads(run("lock", "src/a.py", "-s", me, "-m", "renaming", "--json").stdout)[0]["token"]
    refused = run("lock", "src/", "-s", you, status=3)
    assert f"This is locked by {me}" in refused.stderr
    assert "/src" in refused.stderr
    assert "through its lock on " in refused.stderr  # the lock is on a file in it
    assert 'src/a.py, note "renaming", token' in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    refused = run("lock", "src/a.py", "-s", you, status=3)
    assert "through its lock on" not in refused.stderr
    assert "refused" in run("activity", "--kind", "refused").stdout
    assert "Choose one of" in run("activity", "--kind", "splendid", status=2).stderr
    assert "src/a.py" in run("locks").stdout
    assert "is free" in run("locks", "README.md").stdout
    assert you in run("send", "all", "careful with src", "-s", me).stdout
    assert "1 unread" in run("log", "waiting for src", "-s", you).stderr
    assert "| careful with src" in run("inbox", "-s", you).stdout
    assert "Released" in run("unlock", "src/a.py", "-s", me, "--token", str(token)).stdout
    run("world", "set", "# All good", "-s", me)
    assert "✓ done" in run("complete", "renamed it", "-s", me).stdout
    report = run("sitrep").stdout
    assert "# All good" in report
    assert "renamed it" in report


def test_who_waits_is_told_for_whom_and_counted_once(run: Run) -> None:
    me, you = registered(run), registered(run, "write tests")
    run("lock", "src/a.py", "-s", me)
    refused = run("lock", "src/", "-s", you, "--wait", "0.2", status=3)
    assert "Waiting up to 0.2 s: " in refused.stderr
    assert json.loads(run("stats", "--json").stdout)["conflicts_prevented"] == 1


def test_a_session_is_found_by_the_environment_or_by_the_start_of_its_id(run: Run) -> None:
    me = registered(run)
    run("log", "one", ENGRAM_SESSION=me)
    run("log", "two", "-s", me[:18])
    assert len(json.loads(run("logs", me, "--json").stdout)) == 2
    assert "engram: No session given. Pass --session ID or set ENGRAM_SESSION." in run("log", "three", status=2).stderr


def test_a_session_is_found_by_the_agent_process_that_runs_the_command(tmp_path: Path) -> None:
    agent = tmp_path / "codex"
    agent.symlink_to(sys.executable)
    script = (
        "import subprocess, sys\n"
        "call = [sys.argv[1], '-m', 'engram']\n"
        "subprocess.run([*call, 'register', 'find me'], check=True, stdout=subprocess.DEVNULL)\n"
        "subprocess.run(['sh', '-c', '\"$@\"; true', 'sh', *call, 'log', 'it was me'], check=True)\n"
        "subprocess.run([*call, 'sessions', '--json'], check=True)\n"
    )
    done = subprocess.run([agent, "-c", script, sys.executable], capture_output=True, text=True, check=True)
    (session,) = json.loads(done.stdout.splitlines()[-1])
    assert (session["flavor"], session["session_type"], session["presence"]) == ("codex", "codex", "here")


def test_refusals_are_json_for_programs(run: Run) -> None:
    missing = json.loads(run("show", "nobody", "--json", status=1).stdout)
    assert (missing["error"], missing["id"]) == ("not_found", "nobody")
    me, you = registered(run), registered(run)
    run("lock", "a", "-s", me)
    held = json.loads(run("lock", "a", "-s", you, "--json", status=3).stdout)
    assert (held["error"], held["holder"]) == ("held", me)
    assert held["locks"][0]["token"] == held["token"]


def test_texts_are_read_from_a_pipe(run: Run) -> None:
    me = registered(run)
    run("log", "-s", me, text="line one\nline two\n")
    assert json.loads(run("logs", me, "--json").stdout)[0]["entry"] == "line one\nline two"
    run("world", "set", "-", text="# Piped\n")
    assert "# Piped" in run("world", "show").stdout
    assert "No ENTRY given" in run("log", "-s", me, text="", status=2).stderr


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["nonsense"], 2),
        (["lock"], 2),
        (["world", "diff"], 2),
        (["register", ""], 2),
        (["register", "x", "--pid", "999999999"], 2),
        (["world", "show"], 1),
        (["world", "set", "word " * 9000], 2),
        (["sessions", "-p", "/does/not/exist"], 1),
    ],
)
def test_mistakes_end_with_a_line_that_says_what_to_do(run: Run, words: list[str], status: int) -> None:
    stderr = run(*words, status=status).stderr
    assert stderr.strip()
    assert "Traceback" not in stderr


def test_numbers_beyond_every_store_are_refused(run: Run) -> None:
    me = registered(run)
    token = ("unlock", "x", "--token", "9" * 30)
    assert "Too large to store" in run(*token, status=2, ENGRAM_SESSION=me).stderr
    assert f"no version {'9' * 30}." in run("world", "diff", "9" * 30, status=1).stderr


def test_a_forgotten_text_does_not_blank_the_world_state(run: Run) -> None:
    run("world", "set", "# Precious")
    assert "No CONTENT given" in run("world", "set", text="", status=2).stderr
    assert "# Precious" in run("world", "show").stdout


def test_a_directory_that_was_removed_stops_nothing(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f"cd {gone} && rmdir {gone} && {sys.executable} -m engram sitrep && {sys.executable} -m engram locks /x"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_password_is_never_shown(run: Run) -> None:
    for address in ("postgresql://u:s3cret@h/d", "postgresql://u@h/d?password=s3cret&x=1"):
        assert "s3cret" not in run("config", ENGRAM_STORE=address).stdout
        assert "s3cret" not in run("config", "--json", ENGRAM_STORE=address).stdout


def test_a_broken_config_is_one_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.toml").write_text("stale_minutes = 'soon'")
    assert "config.toml: stale_minutes must be a whole number" in run("sitrep", status=2).stderr


def test_the_world_state_is_edited_in_the_users_editor_and_nothing_typed_is_lost(run: Run, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\necho '# From the editor' >> \"$1\"\n")
    editor.chmod(0o755)
    run("world", "set", "# Before")
    assert "version 2" in run("world", "edit", EDITOR=str(editor)).stdout
    assert run("world", "show").stdout.splitlines()[1:] == ["# Before", "# From the editor"]
    editor.write_text('#!/bin/sh\necho "# Mine" > "$1"\nengram_python -m engram world set "# Theirs" >/dev/null\n')
    editor.write_text(editor.read_text().replace("engram_python", sys.executable))
    refused = run("world", "edit", EDITOR=str(editor), status=3).stderr
    result = refused.partition("kept in ")[2].split()[0].rstrip(".")
    assert Path(result).read_text() == "# Mine\n"
    os.unlink(result)
    assert "Nothing was changed" in run("world", "edit", EDITOR="true").stdout


def on_a_terminal(home: Path, *words: str, **env: str) -> str:
    """Run a command with a terminal as its output."""
    try:
        leader, follower = pty.openpty()
    except OSError:
        pytest.skip("output on a terminal is not tested: this machine has no pseudo-terminals")
    child = subprocess.Popen(
        [sys.executable, "-m", "engram", *words], stdout=follower, stdin=follower, stderr=follower,
        env={**os.environ, "ENGRAM_HOME": str(home), "TERM": "xterm", "COLUMNS": "90", **env},
    )  # fmt: skip
    os.close(follower)
    shown = b""
    while True:
        try:
            part = os.read(leader, 4096)
        except OSError:
            break
        if not part:
            break
        shown += part
    child.wait()
    os.close(leader)
    return shown.decode()


def test_colour_is_for_terminals_that_want_it(run: Run, tmp_path: Path) -> None:
    registered(run, "a rather long summary " * 8)
    assert "\x1b[" in on_a_terminal(tmp_path / "home", "sessions")
    assert "\x1b[" not in on_a_terminal(tmp_path / "home", "sessions", NO_COLOR="1")
    assert "\x1b[" not in run("sessions").stdout


def test_a_table_fits_its_terminal(run: Run, tmp_path: Path) -> None:
    registered(run, "a rather long summary, 長い説明 " * 8)
    lines = on_a_terminal(tmp_path / "home", "sessions", NO_COLOR="1").replace("\r", "").splitlines()
    assert all(len(line) <= 90 for line in lines)
    assert lines[1].endswith("…")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_offered_for_every_shell(run: Run, shell: str) -> None:
    assert "_ENGRAM_COMPLETE" in run("completion", shell).stdout


def test_sessions_are_completed_by_id(run: Run) -> None:
    me = registered(run)
    done = run(_ENGRAM_COMPLETE="bash_complete", COMP_WORDS="engram log -s 20", COMP_CWORD="3")
    assert me in done.stdout


def test_settings_are_shown(run: Run) -> None:
    assert "stale_minutes = 12" in run("config", ENGRAM_STALE_MINUTES="12").stdout
    settings: dict[str, Any] = json.loads(run("config", "--json").stdout)
    assert settings["lock_minutes"] == 30


def test_relative_paths_mean_the_directory_the_command_runs_in(run: Run, tmp_path: Path) -> None:
    me = registered(run)
    run("lock", "x.py", "-s", me)
    with Engram(tmp_path / "home") as engram:
        assert engram.list_locks()[0].resource == str(tmp_path / "work" / "x.py")


def test_no_command_waits_for_arrays_it_does_not_need() -> None:
    code = "import sys; from engram.surfaces.cli import main; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_the_command_line_in_a_process_of_another_leaves_its_umask_alone() -> None:
    before = os.umask(0o022)
    try:
        assert CliRunner().invoke(build_command_line(), ["stats", "--json"], prog_name="engram").exit_code == 0
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no device that is always full")
@pytest.mark.parametrize("command", ["--help", "stats"])
def test_output_that_cannot_be_written_is_said_in_one_line(tmp_path: Path, command: str) -> None:
    env = {**os.environ, "ENGRAM_HOME": str(tmp_path / "home")}
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "engram", command],
            env=env,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "engram: cannot write the output: No space left on device\n"


def test_an_editor_that_cannot_be_started_leaves_no_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    run("world", "edit", status=1, EDITOR="/nowhere/editor", VISUAL="", TMPDIR=str(tmp_path / "tmp"))
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_person_writes_to_the_project_of_the_current_directory(run: Run) -> None:
    run("send", "next", "mind the new lock file")
    me = registered(run)
    assert "mind the new lock file" in run("inbox", "-s", me).stdout
    assert me in run("send", "all", "lunch").stdout


def test_a_session_registered_at_a_terminal_acts_in_later_commands(tmp_path: Path) -> None:
    """Two commands in one shell, without naming the session."""
    script = tmp_path / "typed"
    script.write_text("engram register 'fix the parser'\nengram log 'parsed it'\nengram sessions\nexit\n")
    engram = tmp_path / "bin" / "engram"
    engram.parent.mkdir()
    engram.write_text(f'#!/bin/sh\nexec {sys.executable} -m engram "$@"\n')
    engram.chmod(0o755)
    environment = {**os.environ, "PATH": f"{engram.parent}:{os.environ['PATH']}", "PS1": "", "NO_COLOR": "1"}
    above, below = pty.openpty()
    with script.open() as typed:
        shell = subprocess.Popen(
            ["bash", "--norc", "-i"], stdin=below, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=environment, start_new_session=True, text=True,
        )  # fmt: skip
        os.write(above, typed.read().encode())
        said, _ = shell.communicate(timeout=60)
    assert "No session given" not in said
    assert "●" in said
