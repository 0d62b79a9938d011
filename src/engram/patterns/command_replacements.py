"""Compare a command that failed with the one that worked in its place. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from engram.evidence import command_shape, shell_commands, task_commands
from engram.patterns.steps import SessionStep

READ_COMMANDS = frozenset("cat ls head tail sed stat wc tree file less nl awk grep rg find fd cut".split())
SOON_STEPS = 4  # commands among which an alternative counts
_NOT_FOUND = "command not found: "
_MAX_STEPS = 12
_MAX_PROGRAM_WORDS = 3  # as in `uv run pytest`
# Shapes that say nothing about what the command does.
_SCRIPTS = ("python -c", "python3 -c", "node -e", "node -p", "bash -c", "sh -c", "wsl", "pwsh", "powershell")


def find_replacement(failed: str, passing: str, signature: str) -> tuple[str, str] | None:
    """Return the call that fails and the one that works, if they are all that differs between two command lines."""
    if not all(map(task_commands.is_repeatable, (failed, passing))):
        return None
    if signature.startswith(_NOT_FOUND):
        return _replace_program(failed.split(), passing.split(), signature.removeprefix(_NOT_FOUND))
    before, after = list_calls(failed), list_calls(passing)
    removed = [call for call in before if call not in after]
    added = [call for call in after if call not in before]
    if len(removed) != 1 or len(added) != 1 or not all(map(_is_telling, (*removed, *added))):
        return None
    return removed[0], added[0]


def _replace_program(failed: list[str], passing: list[str], program: str) -> tuple[str, str] | None:
    """Return a program that is not installed and what was called in its place with the same arguments."""
    arguments = failed[1:]
    if failed[:1] != [program] or (arguments and passing[-len(arguments) :] != arguments):
        return None
    called = passing[: len(passing) - len(arguments)]
    return (program, " ".join(called)) if 0 < len(called) <= _MAX_PROGRAM_WORDS else None


def list_calls(command: str) -> list[str]:
    """Return the calls of a command line: programs with subcommands and options, without values."""
    return [shape for _, raw in command_shape.list_parts(command) if (shape := _drop_placeholders(raw))]


def clean_shape(command: str) -> str:
    """Return the first call of a command line."""
    return next(iter(list_calls(command)), "")


def name_program(shape: str) -> str:
    """Return the program and subcommands of a call, without its options."""
    return " ".join(word for word in _drop_placeholders(shape).split() if not word.startswith("-"))


def _drop_placeholders(shape: str) -> str:
    return " ".join(word for word in shape.split() if not word.startswith("<"))


def _is_telling(call: str) -> bool:
    return call.split(maxsplit=1)[0] not in READ_COMMANDS and not call.startswith(_SCRIPTS)


def list_next_commands(steps: Sequence[SessionStep], position: int) -> list[SessionStep]:
    """Return the commands that ran soon after a step."""
    return [step for step in steps[position + 1 : position + _MAX_STEPS] if step.command][:SOON_STEPS]


def is_similar_command(first_command: str, second_command: str) -> bool:
    """Check whether two commands have the same purpose: half of the shorter one's names occur in the other."""
    first_words, second_words = _split_words(first_command), _split_words(second_command)
    if first_words[:1] == second_words[:1]:
        first_words, second_words = first_words[1:], second_words[1:]
    shared = [word for word in first_words if any(_is_similar_word(word, second_word) for second_word in second_words)]
    return bool(shared) and len(shared) * 2 >= min(len(first_words), len(second_words))


def _split_words(command: str) -> list[str]:
    return [
        word for word in shell_commands.shorten_command(command, 400).split() if word not in ("run", "exec", "-m", "--")
    ]


def _is_similar_word(first_word: str, second_word: str) -> bool:
    return first_word == second_word or (
        min(len(first_word), len(second_word)) >= 4 and (first_word in second_word or second_word in first_word)
    )
