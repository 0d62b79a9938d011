"""What a shell command was for, and what its output says of it. Pure."""

from __future__ import annotations

import re
from functools import lru_cache

_TEST = re.compile(
    r"\b(?:pytest|tox|nox|unittest|jest|vitest|mocha|rspec|phpunit|ctest|playwright test|go test|"
    r"cargo (?:test|nextest)|(?:npm|pnpm|yarn|bun|deno)(?: run)? test\S*|"
    r"(?:mise|make|just|task|gradle|gradlew|mvn|dotnet|swift|mix|rake|bazel)(?: run)?[^|;&\n]{0,40}\btest\S*)\b"
)
_BUILD = re.compile(
    r"\b(?:tsc|mypy|pyright|ruff|eslint|golangci-lint|go (?:build|vet)|cargo (?:build|check|clippy)|"
    r"(?:npm|pnpm|yarn|bun|mise|make|just)(?: run)? (?:build|lint|check|typecheck|fmt)\S*|docker build|gcc|cmake)\b"
)
_COMMIT = re.compile(r"\bgit (?:-C \S+ )?commit\b")
_REVERT = re.compile(r"\bgit (?:revert|reset --hard|checkout (?:HEAD )?-- |restore |stash drop|clean -)")
_PUSH = re.compile(r"\bgit push\b|\bgh pr (?:create|merge)\b")
_MESSAGE = re.compile(r"-m\s+(?:\"\$\(cat <<\S+\n)?[\"']?([^\"'\n]{3,160})")
_MADE = re.compile(r"^\[[^\]\s]+(?: \([^)]*\))? ([0-9a-f]{7,40})\] (.{1,160})", re.MULTILINE)
_PASSED = re.compile(
    r"(\d+) (?:tests? )?(?:passed|passing|ok)\b|\bPASS\b|^ok\s|test result: ok|All tests passed", re.MULTILINE
)
_FAILED = re.compile(
    r"\b([1-9]\d*) (?:tests? )?(?:failed|failing|failures|errors?)\b|^(?:---\s)?FAIL\b|test result: FAILED|\bFAILED\b",
    re.MULTILINE,
)
_ERROR = re.compile(
    r"error|exception|fatal|panic|cannot|can't|could not|not found|undefined|unresolved|denied|no such|unable|invalid|"
    r"unexpected|mismatch|fail|timed? ?out|refused|conflict|traceback|must |already|missing", re.IGNORECASE
)  # fmt: skip
_NOISE = re.compile(
    r"^\s*(?:Exit code:? ?\d+|Traceback \(most recent|Chunk ID|Wall time|Process exited|Original token|Output:|"
    r"\$ |#|\.{3})"
)
_PLACES = re.compile(r"(?:[\w.~-]*/)+")
_NUMBERS = re.compile(r"\b(?:0x)?[0-9a-f]*\d[0-9a-f]*\b")
_PURPOSES = {"commit": _COMMIT, "revert": _REVERT, "push": _PUSH, "test": _TEST, "build": _BUILD}


@lru_cache(maxsize=64)  # who looks at a session asks several times in a row
def purpose(command: str) -> str:
    """Return what a command is for: test, build, commit, revert, push, or nothing we know."""
    for name, pattern in _PURPOSES.items():
        if pattern.search(command):
            return name
    return ""


@lru_cache(maxsize=64)
def tests_passed(output: str, exit_code: int | None, failed: bool) -> bool | None:
    """Tell whether tests passed, by what they print: a pipe may hide their exit code. None is neither."""
    if _FAILED.search(output):
        return False
    if _PASSED.search(output):
        return not failed
    return None if exit_code is None else exit_code == 0


def committed(command: str, output: str) -> str:
    """Return what a commit says: its short name and first line."""
    made = _MADE.search(output)
    if made:
        return f"{made[1][:9]} {made[2]}"
    message = _MESSAGE.search(command)
    return message[1].strip() if message else "commit"


def error_line(output: str) -> str:
    """Return the line of an output that says best what went wrong."""
    lines = [line.strip() for line in output[:6000].splitlines() + output[-3000:].splitlines()[1:] if line.strip()]
    told = [line for line in lines if not _NOISE.match(line)]
    found = next((line for line in told if _ERROR.search(line)), told[0] if told else "")
    return found[:200]


def signature(line: str) -> str:
    """Return an error without what differs from time to time: places and numbers."""
    return _NUMBERS.sub("N", _PLACES.sub("", line)).lower()[:120]


def short(command: str, length: int = 120) -> str:
    """Return a command on one line, without the directory it first changes to."""
    line = " ".join(command.split())
    line = re.sub(r"^cd \S+ && ", "", line)
    return line if len(line) <= length else line[: length - 1] + "…"


def same(command: str) -> str:
    """Return what makes two runs of a command the same: its first words."""
    return " ".join(re.sub(r"^cd \S+ && ", "", " ".join(command.split())).split("|")[0].split()[:4])
