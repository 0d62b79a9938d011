"""The commands of a project are told from a command line, with what they are for and where they ran."""

from __future__ import annotations

import pytest

from engram.evidence.task_commands import list_task_runs, locate


@pytest.mark.parametrize(
    ("line", "purpose", "command", "is_whole"),
    [
        ("cd src && go test ./... 2>&1 | tail -5", "test", "go test ./...", True),
        ("uv run pytest -q", "test", "uv run pytest", True),
        ("uv run pytest tests/test_prices.py -x", "test", "uv run pytest tests/test_prices.py", False),
        ("go test ./terminal/... -run TestWrite", "test", "go test ./terminal/... -run TestWrite", False),
        ("npm ci", "setup", "npm ci", True),
        ("pip install -r requirements.txt", "setup", "pip install -r requirements.txt", True),
        ("pip install -e '.[dev]'", "setup", "pip install -e '.[dev]'", True),
        ("npm run dev", "run", "npm run dev", True),
        ("golangci-lint run ./...", "lint", "golangci-lint run ./...", True),
        ("gofmt -w terminal/writer.go", "lint", "gofmt -w terminal/writer.go", False),
        ("make release", "release", "make release", True),
        ("DEPLOY_KEY=test make deploy", "release", "DEPLOY_KEY=test make deploy", True),
        ("rtk bun run test", "test", "rtk bun run test", True),
    ],
)
def test_a_command_has_a_purpose(line: str, purpose: str, command: str, is_whole: bool) -> None:
    (task,) = list_task_runs(line)
    assert (task.purpose, task.command, task.is_whole) == (purpose, command, is_whole)


@pytest.mark.parametrize(
    "line",
    [
        "pip install requests", "npm install left-pad", "git commit -m 'x'", "ls -la", "cat package.json",
        "go test $PKG", "pytest /tmp/scratch/test_x.py", "gh release list", "go run /tmp/check.go", "npm view react",
    ],
)  # fmt: skip
def test_what_no_other_session_could_repeat_is_no_task(line: str) -> None:
    assert list_task_runs(line) == ()


def test_a_line_of_several_commands_has_several_tasks() -> None:
    tasks = list_task_runs("cd web && npm ci && npm run build && npm test")
    assert [(task.purpose, task.directory) for task in tasks] == [("setup", "web"), ("build", "web"), ("test", "web")]


@pytest.mark.parametrize(
    ("directory", "cwd", "expected"),
    [
        ("src", "/home/me/app", "src"), ("/home/me/app/src", "/home/me/app", "src"),
        ("/home/me/app", "/home/me/app", ""),
        ("/d/app/src", "D:\\app", "src"), ("D:\\app\\src", "d:/app", "src"), ("/mnt/d/app/src", "D:\\app", "src"),
        ("/home/me/app/.claude/worktrees/x/src", "/home/me/app", "src"), ("/elsewhere", "/home/me/app", None),
        ("../other", "/home/me/app", None), ("~/app", "/home/me/app", None), ("", "/home/me/app", ""),
    ],
)  # fmt: skip
def test_a_directory_is_relative_to_the_project(directory: str, cwd: str, expected: str | None) -> None:
    assert locate(directory, cwd) == expected
