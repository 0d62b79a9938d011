"""Signals of commands: failures that come again, errors, and what passes. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from engram.digests import commands
from engram.patterns import problem, shape
from engram.patterns.signal import Signal, signal
from engram.patterns.steps import Step, Story

_LOOKS = frozenset("cat ls head tail sed stat wc tree file less nl awk grep rg find fd cut".split())
_SOON = 4  # steps in which another way was found
_CHAIN = 3  # commands of a sequence
_INSTALLS = ("install", "sync", "add", "ci", "restore", "download", "generate", "migrate")


def failing_commands(story: Story) -> Iterator[Signal]:
    """Yield commands that fail again in the same way, or were given up for another that works."""
    groups: dict[tuple[str, str], list[int]] = {}
    for place, step in enumerate(story.steps):
        found = problem.error(step) if step.command else ""
        name = shape.shape(step.command) if found else ""
        if name and not set(name.split(" && ")) <= _LOOKS:
            groups.setdefault((name, found), []).append(place)
    for (name, found), places in groups.items():
        fix = _other_way(story, places[-1])
        if len(places) < 2 and not (fix and problem.from_setup(story.steps[places[0]])):
            continue
        told = [story.steps[place] for place in places]
        shown, quote = commands.short(told[-1].command, 80), problem.line(told[-1])
        yield signal(
            story, "failing-command", f"{name}: {found}", f"'{shown}' fails: {quote}", told,
            fix=fix or mended(story, places[-1]), quote=quote,
        )  # fmt: skip


def _other_way(story: Story, place: int) -> str:
    """Return the command that took the place of a failed one and worked, soon after."""
    failed = story.steps[place].command
    for step in _runs_after(story, place)[:_SOON]:
        if not step.worked or shape.shape(step.command) in ("", *_LOOKS):
            continue
        if commands.short(step.command) != commands.short(failed) and _alike(failed, step.command):
            return f"run '{commands.short(step.command, 100)}'"
    return ""


def _runs_after(story: Story, place: int) -> list[Step]:
    return [step for step in story.steps[place + 1 : place + 12] if step.command]


def _alike(one: str, other: str) -> bool:
    """Tell whether two commands want the same: half of what the shorter one names is in the other as well."""
    first, second = _named(one), _named(other)
    if first[:1] == second[:1]:
        first, second = first[1:], second[1:]
    shared = [word for word in first if any(_akin(word, each) for each in second)]
    return bool(shared) and len(shared) * 2 >= min(len(first), len(second))


def _named(command: str) -> list[str]:
    return [word for word in commands.short(command, 400).split() if word not in ("run", "exec", "-m", "--")]


def _akin(one: str, other: str) -> bool:
    return one == other or (min(len(one), len(other)) >= 4 and (one in other or other in one))


def mended(story: Story, place: int) -> str:
    """Return what was done after a failure until the very same command worked."""
    failed = story.steps[place]
    changed: list[str] = []
    ran: list[str] = []
    for step in story.steps[place + 1 :]:
        if step.worked and step.command and commands.short(step.command, 400) == commands.short(failed.command, 400):
            return _told([] if problem.from_setup(failed) else changed, ran)
        if step.worked and step.done is not None:
            changed += [path.replace("\\", "/").rpartition("/")[2] for path in step.done.changes]
            if step.command and _installs(step.command):
                ran.append(commands.short(step.command, 60))
    return ""


def _told(changed: list[str], ran: list[str]) -> str:
    parts = [f"run '{each}'" for each in dict.fromkeys(ran)][:2]
    parts += [f"change {', '.join(list(dict.fromkeys(changed))[:3])}"] if changed else []
    return " and ".join(parts)


def _installs(command: str) -> bool:
    return any(word in _INSTALLS for part in shape.parts(command) for word in part[1:3])


def errors(story: Story) -> Iterator[Signal]:
    """Yield each error once, with how often it came up."""
    groups: dict[str, list[int]] = {}
    for place, step in enumerate(story.steps):
        found = problem.error(step)
        if found:
            groups.setdefault(found, []).append(place)
    for found, places in groups.items():
        told = [story.steps[place] for place in places]
        quote = problem.line(told[-1])
        about = commands.short(told[-1].command, 60) if told[-1].command else told[-1].tool
        fix = (_other_way(story, places[-1]) or mended(story, places[-1])) if told[-1].command else ""
        yield signal(story, "error", found, f"{quote} (from '{about}')", told, fix=fix, quote=quote)


def passing_sequences(story: Story) -> Iterator[Signal]:
    """Yield the sequences of commands that pass: after a failure, or more than once."""
    found: Counter[tuple[str, ...]] = Counter()
    told: dict[tuple[str, ...], list[Step]] = {}
    after_failure: set[tuple[str, ...]] = set()
    for chain, steps, mending in _chains(story):
        found[chain] += 1
        told.setdefault(chain, []).extend(steps)
        if mending:
            after_failure.add(chain)
    for chain, times in found.items():
        if times >= 2 or chain in after_failure:
            path = " → ".join(chain)
            text = f"These are run together and pass: {path}"
            yield signal(story, "passing-sequence", path, text, told[chain], quote=path, times=times, fix=f"run {path}")


def _chains(story: Story) -> Iterator[tuple[tuple[str, ...], list[Step], bool]]:
    """Yield the last of different checks and deliveries that all worked, and whether one of them failed before."""
    chain: dict[str, Step] = {}
    failed: set[str] = set()
    for step in story.steps:
        names = _purposeful(step.command) if step.command and step.verdict else []
        bad = bool(names) and (problem.passed(step) is False or not step.worked)
        if bad or any(name in chain for name in names):
            yield from _ended(chain, failed)
            chain = {}
        if bad:
            failed |= set(names)
        else:
            chain |= dict.fromkeys(names, step)
    yield from _ended(chain, failed)


def _ended(chain: dict[str, Step], failed: set[str]) -> Iterator[tuple[tuple[str, ...], list[Step], bool]]:
    last = tuple(chain)[-_CHAIN:]
    if len(last) < 2 or not any(_checks(name) for name in last):
        return
    # In which order checks pass is chance; that they come before what delivers is not.
    ordered = (*sorted(filter(_checks, last)), *(name for name in last if not _checks(name)))
    yield ordered, [chain[name] for name in last], bool(failed & set(last))


def _checks(name: str) -> bool:
    return commands.purpose(name) in ("test", "build")


def _purposeful(command: str) -> list[str]:
    """Return the shapes of those commands of a line that check or deliver."""
    found = [(" ".join(part), shape.shape(" ".join(part))) for part in shape.parts(command)]
    wanted = [
        name for line, name in found if name and (commands.purpose(line) not in ("", "revert") or _installs(line))
    ]
    return list(dict.fromkeys(wanted))
