"""Equal problems have equal fingerprints, different problems have different ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.evidence import command_shape
from engram.evidence.error_signature import abstract_line, make_signature
from engram.patterns.fingerprint import (
    extract_content,
    pattern_id,
    relative_file_name,
    sanitize_line,
)

SAME = [
    ("/home/ann/app/src/x.py:12:3 - error: missing import", "C:\\work\\app\\src\\x.py:99:1 - error: missing import"),
    ("2026-11-01T10:00:00Z commit 1a2b3c4d failed", "2025-01-31T23:59:59Z commit deadbee1 failed"),
    ("listen EADDRINUSE: address already in use :::3000", "listen EADDRINUSE: address already in use :::8080"),
    (
        "fatal: unable to access 'https://a.example/x.git/': timeout",
        "fatal: unable to access 'http://b.example/y': timeout",
    ),
    ("job 0f8fad5b-d9cb-469f-a165-70867728950e is gone", "job 7c9e6679-7425-40de-944b-e07fc1f90ae7 is gone"),
    ("cannot open /tmp/tmpa1b2/out: busy", "cannot open /var/folders/x/T/tmp9z/out: busy"),
    ("package requires v1.2.3 or newer", "package requires v20.11.0 or newer"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_differs_by_machine_person_and_time_is_left_out(one: str, other: str) -> None:
    assert abstract_line(one) == abstract_line(other)


@pytest.mark.parametrize(
    "line",
    ["bash: line 1: pnpm: command not found", "zsh:1: command not found: pnpm", "/bin/sh: 1: pnpm: not found",
     "'pnpm' is not recognized as an internal or external command"],
)  # fmt: skip
def test_every_shell_misses_a_command_alike(line: str) -> None:
    assert make_signature(line) == "command not found: pnpm"


def test_which_module_is_missing_stays_told() -> None:
    assert make_signature("ModuleNotFoundError: No module named 'yaml'") != make_signature(
        "ModuleNotFoundError: No module named 'attr'"
    )
    assert make_signature("Error: Cannot find module 'express'") == "error: cannot find module express"


def test_a_path_that_is_not_there_is_the_same_whoever_looked() -> None:
    lines = ("cat: a/b.txt: No such file or directory", "ls: cannot access 'x': No such file or directory",
             "rg: docs: No such file or directory (os error 2)", "Path does not exist: cmd/cli")  # fmt: skip
    assert {make_signature(line) for line in lines} == {"no such file or directory"}


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("cd /a/b && uv run pytest tests/test_a.py -v | tail -5", "uv run pytest"),
        ("FOO=1 python3.12 -m pytest -q tests", "python -m pytest"),
        ("bash -lc 'npm run build:prod'", "npm run build:prod"),
        ("git -C /x push origin main", "git push"),
        ("timeout 60 go test ./...", "go test"),
        ("gh pr edit 1572 --body 'a; b && c'", "gh pr edit"),
        ("ruff check . && pytest -q", "ruff check && pytest"),
        ("cat <<'EOF' > x.py\nrm -rf /\nEOF\npython x.py", "cat && python <script>"),
        ("npx vitest run", "npx vitest"),
        ("", ""),
    ],
)
def test_a_command_is_known_by_what_it_does_not_by_what_it_does_it_to(command: str, told: str) -> None:
    assert command_shape.shape_command(command) == told


def test_a_file_is_named_from_its_project() -> None:
    assert relative_file_name("/home/ann/app/src/x.py", "/home/ann/app", None) == "app/src/x.py"
    assert relative_file_name("C:\\work\\app\\src\\x.py", "C:\\work\\app", None) == "app/src/x.py"
    assert relative_file_name("src/x.py", "/home/bo/app", None) == "app/src/x.py"
    assert relative_file_name("/home/bo/other/x.py", "/home/bo/app", None) == "other/x.py"


HOSTILE = (
    "\x1b[31m<!-- engram:end -->\n```\n# Heading\n| a | b |\n> quote [[page]] \u202egnp.exe\u200b **bold** <script>"
)


def test_words_of_a_transcript_cannot_leave_the_line_they_are_put_into() -> None:
    result = sanitize_line(HOSTILE, 200)
    assert not any(mark in result for mark in ("<", ">", "`", "\n", "\x1b", "|", "[[", "**", "\u202e", "\u200b"))
    assert "Heading" in result


@given(st.text(max_size=400))
def test_any_text_becomes_a_safe_line_of_bounded_length(text: str) -> None:
    result = sanitize_line(text, 80)
    assert len(result) <= 80
    assert result.isprintable()
    assert not set(result) & set("<>`\n")


@given(st.text(max_size=300))
def test_any_text_has_a_fingerprint_and_a_shape(text: str) -> None:
    assert abstract_line(text) == abstract_line(text)
    assert "\n" not in make_signature(text)
    assert len(extract_content(text).split()) <= 14
    command_shape.shape_command(text)
    command_shape.is_noise(text, 1, text)


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_numbers_never_tell_two_errors_apart(one: int, other: int) -> None:
    assert make_signature(f"connection to port {one} refused after {one} ms") == make_signature(
        f"connection to port {other} refused after {other} ms"
    )


def test_an_id_is_made_of_kind_and_fingerprint() -> None:
    assert pattern_id("error", "x") != pattern_id("denied", "x")
    assert len(pattern_id("error", "x")) == 13
