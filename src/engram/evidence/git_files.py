"""Find the files that git commands name. Pure."""

from __future__ import annotations

import re

from engram.evidence.command_line import parse_command

_STAT = re.compile(r"^ ?(\S[^|\n]*?)\s+\|\s+(?:\d+ [+-]*|Bin .*)$", re.MULTILINE)
_SHORT = re.compile(r"^ ?[MARC]{1,2} +(\S+)$", re.MULTILINE)
_FILE = re.compile(r"[\w./\\@+-]*\.\w+")
_REVISION = re.compile(r"\.\.|^[0-9a-f]{7,40}$|^(?:origin|upstream)/|^HEAD[~^]")


def list_added(command: str) -> tuple[str, ...]:
    """Return the files that a command line adds to a commit by name."""
    paths: list[str] = []
    for words in _list_git(command):
        if words[:1] == ["add"]:
            paths += [word for word in words[1:] if _FILE.fullmatch(word) and not word.startswith("-")]
    return tuple(paths)


def list_changed(command: str, output: str) -> tuple[str, ...]:
    """Return the files that git says are changed in the working tree: by `git diff --stat` or `git status --short`."""
    paths: list[str] = []
    for words in _list_git(command):
        if any(_REVISION.search(word) for word in words):
            continue
        if words[:1] == ["diff"] and "--stat" in words:
            paths += [path for path in _STAT.findall(output) if "=>" not in path and "..." not in path]
        elif words[:1] == ["status"] and {"--short", "-s", "--porcelain"} & set(words):
            paths += [path for path in _SHORT.findall(output) if _FILE.fullmatch(path)]
    return tuple(dict.fromkeys(paths))


def _list_git(command: str) -> list[list[str]]:
    """Return the words of each git command of a line, from its subcommand."""
    found = []
    for run in parse_command(command):
        words = list(run.words[1:]) if run.words[0] == "git" else []
        while words and words[0].startswith("-"):
            del words[: 2 if words[0] in ("-C", "-c") else 1]
        if words:
            found.append(words)
    return found
