"""Describe shell commands and the errors in their output. No I/O."""

from __future__ import annotations

import re

_MESSAGE = re.compile(r"-m\s+(?:\"\$\(cat <<\S+\n)?[\"']?([^\"'\n]{3,160})")
_MADE = re.compile(r"^\[[^\]\s]+(?: \([^)]*\))? ([0-9a-f]{7,40})\] (.{1,160})", re.MULTILINE)
_ERROR = re.compile(
    r"error|exception|fatal|panic|cannot|can't|could not|not found|undefined|unresolved|denied|no such|unable|invalid|"
    r"unexpected|mismatch|fail|timed? ?out|refused|conflict|traceback|must |already|missing", re.IGNORECASE
)  # fmt: skip
_EMPTY_RESULT = re.compile(
    r"^total:? \d+|no (?:pull requests|results|matches|issues|releases) (?:found|match)", re.IGNORECASE
)
_NOISE = re.compile(
    r"^\s*(?:Exit code:? ?\d+|Traceback \(most recent|Chunk ID|Wall time|Process exited|Original token|Output:|"
    r"\$ |#|\.{3})"
)
_PLACES = re.compile(r"(?:[\w.~-]*/)+")
_NUMBERS = re.compile(r"\b(?:0x)?[0-9a-f]*\d[0-9a-f]*\b")


def describe_commit(command: str, output: str) -> str:
    """Return a commit's short hash and subject."""
    match = _MADE.search(output)
    if match:
        return f"{match[1][:9]} {match[2]}"
    message = _MESSAGE.search(command)
    return message[1].strip() if message else "commit"


def find_error_line(output: str) -> str:
    """Return the line of an output that best describes the error."""
    lines = [line.strip() for line in output[:6000].splitlines() + output[-3000:].splitlines()[1:] if line.strip()]
    candidates = [line for line in lines if not _NOISE.match(line)]
    best = next((line for line in candidates if _ERROR.search(line)), candidates[0] if candidates else "")
    return best[:200]


def names_error(line: str) -> bool:
    """Return whether a line says that something is wrong, unlike a count or an empty result."""
    return bool(_ERROR.search(line)) and not _EMPTY_RESULT.search(line)


def normalize_error(line: str) -> str:
    """Return an error line without paths and numbers, which vary between runs."""
    return _NUMBERS.sub("N", _PLACES.sub("", line)).lower()[:120]


def shorten_command(command: str, length: int = 120) -> str:
    """Return a command on one line, without a leading `cd`."""
    line = " ".join(command.split())
    line = re.sub(r"^cd \S+ && ", "", line)
    return line if len(line) <= length else line[: length - 1] + "…"


def get_command_key(command: str) -> str:
    """Return the first words of a command, which identify repeated runs."""
    return " ".join(re.sub(r"^cd \S+ && ", "", " ".join(command.split())).split("|")[0].split()[:4])
