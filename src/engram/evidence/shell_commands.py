"""Describe shell commands and the errors in their output. No I/O."""

from __future__ import annotations

import re

from engram.evidence import error_lines

_MESSAGE = re.compile(r"-m\s+(?:\"\$\(cat <<\S+\n)?[\"']?([^\"'\n]{3,160})")
_MADE = re.compile(r"^\[(?:[^\]\s]+)(?: \([^)]*\))? ([0-9a-f]{7,40})\] (.{1,160})", re.MULTILINE)
_BRANCH = re.compile(r"^\[([\w./-]+)(?: \([^)]*\))? [0-9a-f]{7,40}\] ", re.MULTILINE)
_EMPTY_RESULT = re.compile(
    r"^total:? \d+|no (?:pull requests|results|matches|issues|releases) (?:found|match)", re.IGNORECASE
)


def describe_commit(command: str, output: str) -> str:
    """Return a commit's short hash and subject."""
    match = _MADE.search(output)
    if match:
        return f"{match[1][:9]} {match[2]}"
    message = _MESSAGE.search(command)
    return message[1].strip() if message else "commit"


def find_branch(output: str) -> str:
    """Return the branch that a commit was made on, or ""."""
    match = _BRANCH.search(output)
    return match[1] if match else ""


def names_error(line: str) -> bool:
    """Return whether a line says that something is wrong, unlike a count or an empty result."""
    return bool(error_lines.ERROR_WORDS.search(line)) and not is_empty_result(line)


def is_empty_result(line: str) -> bool:
    """Return whether a line says that nothing was found, or counts something."""
    return bool(_EMPTY_RESULT.search(line))


def shorten_command(command: str, length: int = 120) -> str:
    """Return a command on one line, without a leading `cd`."""
    line = " ".join(command.split())
    line = re.sub(r"^cd \S+ && ", "", line)
    return line if len(line) <= length else line[: length - 1] + "…"


def get_command_key(command: str) -> str:
    """Return the first words of a command, which identify repeated runs."""
    return " ".join(re.sub(r"^cd \S+ && ", "", " ".join(command.split())).split("|")[0].split()[:4])
