"""What the replacement of a failed command teaches, and whether that holds for another command. Pure."""

from __future__ import annotations

import re

from engram.evidence import command_shape, same_work
from engram.evidence.content_words import measure_overlap
from engram.platform.value import value

# How the command that worked differs from the one that failed.
ELSEWHERE, STAYED, OTHER = "in another directory", "without changing the directory", "another command"
MISSING = "the program is missing"  # another command, given as an example

_CD = re.compile(r"^cd (\"[^\"]+\"|'[^']+'|\S+) ?(?:&&|;) ")
_CUT = "…"
_LEAST = 12  # characters of a shortened command that say it is the same
_PATH = re.compile(r"(?<![\w/\\:.-])(?:\./)?([\w.@+-]+)/[\w./@*+-]*")
_SHARED = 0.6  # share of the words of a failed command that a similar one has
_MOST_CHANGED = 6  # words that a replacement takes out; more is another command
_NOT_FOUND = "command not found: "


@value
class Lesson:
    """How a command is to be run so that it works."""

    kind: str
    target: str  # the directory to change to or not to change to, or the command that works
    needs: tuple[str, ...] = ()  # what must exist in that directory, as nothing else tells that it is the right one


def find_lesson(failed: str, passing: str, command: str, signature: str) -> Lesson | None:
    """Return what a command that failed and the one that worked teach for another command, or None."""
    if not failed or not passing:
        return None
    before, bare_failed = split_directory(failed)
    after, bare_passing = split_directory(passing)
    if before != after and _is_same_text(bare_failed, bare_passing):
        return _learn_directory(before, after, bare_failed, command)
    if same_work.is_same_command(command, failed) or _takes_same_change(bare_failed, bare_passing, command):
        return Lesson(kind=OTHER, target=passing)
    is_missing = signature.startswith(_NOT_FOUND) and _runs(command, signature.removeprefix(_NOT_FOUND))
    return Lesson(kind=MISSING, target=passing) if is_missing else None


def split_directory(command: str) -> tuple[str, str]:
    """Return the directory that a command line changes to first, or "", and the rest of the line."""
    line = " ".join(command.split())
    match = _CD.match(line)
    return (match[1].strip("\"'"), line[match.end() :]) if match else ("", line)


def _is_same_text(failed: str, passing: str) -> bool:
    """Return whether two command lines are the same, one of them perhaps cut off."""
    one, other = same_work.strip_command(failed), same_work.strip_command(passing)
    if one == other:
        return True
    shorter = min((passing, failed), key=len)
    if not shorter.endswith(_CUT) or len(shorter) < _LEAST:
        return False
    return max((passing, failed), key=len).startswith(shorter[: -len(_CUT)].rstrip())


def _learn_directory(before: str, after: str, failed: str, command: str) -> Lesson | None:
    """Return in which directory a command is to be run, if it is about the same part of the project."""
    place, bare = split_directory(command)
    if place != before:
        return None
    if not after:
        return Lesson(kind=STAYED, target=before)
    roots, known = _list_roots(bare), _list_roots(failed)
    return Lesson(kind=ELSEWHERE, target=after, needs=tuple(sorted(roots - known))) if roots or not known else None


def _list_roots(command: str) -> set[str]:
    """Return the first part of each path in a command that leads down from the current directory."""
    return {match[1] for match in _PATH.finditer(command)} - {".", ".."}


def _runs(command: str, program: str) -> bool:
    """Return whether a command line runs a program."""
    return any(name == program for name, _ in command_shape.list_parts(command))


def _takes_same_change(failed: str, passing: str, command: str) -> bool:
    """Return whether a command has what was taken out of a similar one so that it worked."""
    old = same_work.strip_command(failed).split()
    new = set(same_work.strip_command(passing).split())
    now = set(same_work.strip_command(command).split())
    removed = [word for word in old if word not in new]
    if not removed or len(removed) > min(_MOST_CHANGED, len(old) - 1) or not now.issuperset(removed):
        return False
    return _runs_same(failed, command) and measure_overlap(failed, command) >= _SHARED


def _runs_same(failed: str, command: str) -> bool:
    """Return whether two command lines run the same programs with the same subcommands."""
    return command_shape.shape_command(failed) == command_shape.shape_command(command)
