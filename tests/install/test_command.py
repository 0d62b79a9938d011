"""Our command among others: recognized wherever we are installed, and never confused with another."""

from __future__ import annotations

import shlex

import pytest

from engram.install.own_command import build_hook_command, is_our_hook, parse_program

HOMES = ["/home/me", "/home/me too", "/home/o'brien", "/srv/a&b;c", "/x/$HOME`y", '/quo"te', "/back\\slash", "/ünï"]


@pytest.mark.parametrize("home", HOMES)
def test_what_we_write_is_known_again(home: str) -> None:
    program = f"{home}/bin/engram"
    assert is_our_hook(build_hook_command(program))
    assert parse_program(build_hook_command(program)) == program


@pytest.mark.parametrize(
    "command",
    [
        "engram hook; rm -rf x", "engram hook && say done", "engram hook | tee log", "FOO=1 engram hook",
        "my-engram hook", "engram-like hook", "engram ingest", "engram", "'/x/engram", "sh -c 'engram hook'",
        "/x/engram hook 'a b'", f"{shlex.quote('/o' + chr(39) + 'b/other')} hook", "", 7, None, ["engram", "hook"],
    ],
)  # fmt: skip
def test_what_does_more_or_something_else_is_not_ours(command: object) -> None:
    assert not is_our_hook(command)
