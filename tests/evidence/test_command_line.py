"""Commands are told apart by the programs they run, and by whose status they report."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.evidence.command_line import parse_command
from engram.evidence.purposes import find_purpose, find_run

STATUSES = {"known", "zero", "hidden"}


@pytest.mark.parametrize(
    ("command", "purpose", "status"),
    [
        ("pytest -q", "test", "known"),
        ("cd src && go test ./... 2>&1 | tail -20", "test", "hidden"),
        ("go test ./... && gofmt -l .", "test", "zero"),
        ("npm test || true", "test", "hidden"),
        ("npm test; echo $?", "test", "hidden"),
        ("set -o pipefail; go test ./... | tee log", "test", "known"),
        ("FOO=1 timeout 60 uv run pytest -k 'a b'", "test", "known"),
        ("python3 -m pytest tests", "test", "known"),
        ("wsl -e bash -lc 'cd app && bun test'", "test", "known"),
        ("mise run fmt && mise run lint && mise run test:ci", "test", "known"),
        ("./gradlew :core:test", "test", "known"),
        ("pnpm --filter web run test:unit", "test", "known"),
        ("node --test", "test", "known"),
        ("make check", "test", "known"),
        ("npx tsc --noEmit", "lint", "known"),
        ("golangci-lint run | head", "lint", "hidden"),
        ("docker build .", "build", "known"),
        ("git add -A && git commit -m 'add tests; fix lint'", "commit", "known"),
        ("git -C repo push origin main", "push", "known"),
        ("git reset --hard HEAD~1", "revert", "known"),
    ],
)
def test_the_purpose_and_the_status_of_a_command(command: str, purpose: str, status: str) -> None:
    found, run = find_run(command)
    assert found == purpose
    assert run is not None
    assert run.status == status


@pytest.mark.parametrize(
    "command",
    ["grep -rn pytest .", "echo 'go test'", "cat test.log", "cat <<'EOF'\ngo test ./...\nEOF", "ls tests", "git log",
     "pytest --collect-only", "cat notes | grep -i 'npm test'", ""],
)  # fmt: skip
def test_a_command_that_only_names_a_runner_runs_nothing(command: str) -> None:
    assert find_purpose(command) == ""


@given(st.text(alphabet="abct \"'|&;()<>\n\\$-=/.", max_size=80))
def test_any_text_is_parsed(command: str) -> None:
    for run in parse_command(command):
        assert run.words
        assert run.status in STATUSES


@given(st.sampled_from(["true", "cd x", "make build", "ls"]), st.sampled_from(["pytest", "go test ./...", "npm test"]))
def test_what_comes_before_a_test_does_not_hide_its_status(before: str, runner: str) -> None:
    assert find_run(f"{before} && {runner}") == ("test", parse_command(runner)[0])
