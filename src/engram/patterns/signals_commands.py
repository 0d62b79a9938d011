"""Signals of commands: repeated failures, errors, and sequences that pass. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from engram.evidence import command_shape, purposes, shell_commands
from engram.patterns import step_problem
from engram.patterns.command_replacements import READ_COMMANDS, is_similar_command, list_next_commands
from engram.patterns.signal import Signal, build_signal
from engram.patterns.steps import SessionStep, SessionTrace

_MAX_CHAIN = 3  # commands of a sequence
_INSTALL_WORDS = ("install", "sync", "add", "ci", "restore", "download", "generate", "migrate")


def find_failing_commands(trace: SessionTrace) -> Iterator[Signal]:
    """Yield commands that fail repeatedly in the same way, or were replaced by another that works."""
    groups: dict[tuple[str, str], list[int]] = {}
    for position, step in enumerate(trace.steps):
        error_print = step_problem.fingerprint_step_error(step) if step.command else ""
        name = command_shape.shape_command(step.command) if error_print else ""
        if name and not set(name.split(" && ")) <= READ_COMMANDS:
            groups.setdefault((name, error_print), []).append(position)
    for (name, error_print), positions in groups.items():
        fix = _find_alternative(trace, positions[-1])
        if len(positions) < 2 and not (fix and step_problem.is_setup_failure(trace.steps[positions[0]])):
            continue
        failed_steps = [trace.steps[position] for position in positions]
        command_shown, quote = (
            shell_commands.shorten_command(failed_steps[-1].command, 80),
            step_problem.find_problem_line(failed_steps[-1]),
        )
        yield build_signal(
            trace, "failing-command", f"{name}: {error_print}", f"'{command_shown}' fails: {quote}", failed_steps,
            fix=fix or find_fix(trace, positions[-1]), quote=quote,
        )  # fmt: skip


def _find_alternative(trace: SessionTrace, position: int) -> str:
    """Return the command that worked in place of a failed one, soon after it."""
    failed = trace.steps[position].command
    for step in list_next_commands(trace.steps, position):
        if not step.has_worked or command_shape.shape_command(step.command) in ("", *READ_COMMANDS):
            continue
        if shell_commands.shorten_command(step.command) != shell_commands.shorten_command(
            failed
        ) and is_similar_command(failed, step.command):
            return f"run '{shell_commands.shorten_command(step.command, 100)}'"
    return ""


def find_fix(trace: SessionTrace, position: int) -> str:
    """Return what was done after a failure until the same command worked."""
    failed = trace.steps[position]
    changed: list[str] = []
    installs: list[str] = []
    for step in trace.steps[position + 1 :]:
        if (
            step.has_worked
            and step.command
            and shell_commands.shorten_command(step.command, 400) == shell_commands.shorten_command(failed.command, 400)
        ):
            return _describe_fix([] if step_problem.is_setup_failure(failed) else changed, installs)
        if step.has_worked and step.done is not None:
            changed += [path.replace("\\", "/").rpartition("/")[2] for path in step.done.changes]
            if step.command and _is_install(step.command):
                installs.append(shell_commands.shorten_command(step.command, 60))
    return ""


def _describe_fix(changed: list[str], installs: list[str]) -> str:
    parts = [f"run '{install}'" for install in dict.fromkeys(installs)][:2]
    parts += [f"change {', '.join(list(dict.fromkeys(changed))[:3])}"] if changed else []
    return " and ".join(parts)


def _is_install(command: str) -> bool:
    return any(word in _INSTALL_WORDS for part in command_shape.split_commands(command) for word in part[1:3])


def find_errors(trace: SessionTrace) -> Iterator[Signal]:
    """Yield each error once, with its number of occurrences."""
    groups: dict[str, list[int]] = {}
    for position, step in enumerate(trace.steps):
        error_print = step_problem.fingerprint_step_error(step)
        if error_print:
            groups.setdefault(error_print, []).append(position)
    for error_print, positions in groups.items():
        failed_steps = [trace.steps[position] for position in positions]
        quote = step_problem.find_problem_line(failed_steps[-1])
        about = (
            shell_commands.shorten_command(failed_steps[-1].command, 60)
            if failed_steps[-1].command
            else failed_steps[-1].tool
        )
        fix = (
            (_find_alternative(trace, positions[-1]) or find_fix(trace, positions[-1]))
            if failed_steps[-1].command
            else ""
        )
        yield build_signal(trace, "error", error_print, f"{quote} (from '{about}')", failed_steps, fix=fix, quote=quote)


def find_passing_sequences(trace: SessionTrace) -> Iterator[Signal]:
    """Yield sequences of commands that pass: after a failure, or more than once."""
    chain_counts: Counter[tuple[str, ...]] = Counter()
    steps_by_chain: dict[tuple[str, ...], list[SessionStep]] = {}
    after_failure: set[tuple[str, ...]] = set()
    for chain, steps, fixes_failure in _find_chains(trace):
        chain_counts[chain] += 1
        steps_by_chain.setdefault(chain, []).extend(steps)
        if fixes_failure:
            after_failure.add(chain)
    for chain, times in chain_counts.items():
        if times >= 2 or chain in after_failure:
            path = " → ".join(chain)
            text = f"Commands that pass when run together: {path}"
            yield build_signal(
                trace, "passing-sequence", path, text, steps_by_chain[chain], quote=path, times=times, fix=f"run {path}"
            )


def _find_chains(trace: SessionTrace) -> Iterator[tuple[tuple[str, ...], list[SessionStep], bool]]:
    """Yield the last runs of different checks and deliveries that all passed, and whether one had failed before."""
    chain: dict[str, SessionStep] = {}
    failed: set[str] = set()
    for step in trace.steps:
        names = _list_purposeful_shapes(step.command) if step.command and step.verdict else []
        has_failed_check = bool(names) and (step_problem.has_passed(step) is False or not step.has_worked)
        if has_failed_check or any(name in chain for name in names):
            yield from _close_chain(chain, failed)
            chain = {}
        if has_failed_check:
            failed |= set(names)
        else:
            chain |= dict.fromkeys(names, step)
    yield from _close_chain(chain, failed)


def _close_chain(
    chain: dict[str, SessionStep], failed: set[str]
) -> Iterator[tuple[tuple[str, ...], list[SessionStep], bool]]:
    last = tuple(chain)[-_MAX_CHAIN:]
    if len(last) < 2 or not any(_is_check(name) for name in last):
        return
    # The order of checks is chance; that they come before a delivery is not.
    ordered = (*sorted(filter(_is_check, last)), *(name for name in last if not _is_check(name)))
    yield ordered, [chain[name] for name in last], bool(failed & set(last))


def _is_check(name: str) -> bool:
    return purposes.find_purpose(name) in ("test", "build")


def _list_purposeful_shapes(command: str) -> list[str]:
    """Return the shapes of the commands of a line that check or deliver."""
    shapes_by_line = [
        (" ".join(part), command_shape.shape_command(" ".join(part))) for part in command_shape.split_commands(command)
    ]
    purposeful = [
        name
        for line, name in shapes_by_line
        if name and (purposes.find_purpose(line) not in ("", "revert") or _is_install(line))
    ]
    return list(dict.fromkeys(purposeful))
