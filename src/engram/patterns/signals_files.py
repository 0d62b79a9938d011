"""Signals of files: read again, rewritten, thrown away, and the loop of edit, test, fail. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from engram.digests import commands
from engram.patterns import problem, shape
from engram.patterns.fingerprint import file_name
from engram.patterns.signal import Signal, signal
from engram.patterns.steps import Step, Story

_READS = 4  # of the same lines, while nothing changed them
_REWRITES = 3  # of lines the session itself had written
_EDITS = 12  # of one file for one request
_FAILS = 3  # in a row, each after an edit
_LINE = 12  # characters of a line that is told from others
_RANGE = (
    "offset",
    "limit",
    "start_line",
    "end_line",
    "view_range",
    "line_start",
    "line_end",
    "lines",
    "pages",
    "range",
)
_WORDS = re.compile(r"[\w.@+-]+")
_GROWS = re.compile(r"\.(?:log|out|output|jsonl|tmp|pid)$|/tmp/|\btasks/", re.IGNORECASE)
_DISCARD = re.compile(
    r"\bgit (?:reset --hard|checkout (?:HEAD )?(?:-- )?(?=\.|\S+[./]|-- )\S|restore (?!--staged)|clean -\w*f|"
    r"stash drop|revert\b)"
)  # fmt: skip
_KEPT = re.compile(
    r"\bgit (?:branch|tag|stash(?: push| save)?)\b(?! drop| -[dD])"
)  # what is put aside first is not lost


def rereads(story: Story) -> Iterator[Signal]:
    """Yield files of which the same lines were read many times though nothing changed them."""
    seen: dict[str, dict[tuple[str, str], list[Step]]] = {}  # by the word a command would name the file by
    found: dict[str, list[Step]] = {}
    for step in story.steps:
        if step.kind == "compaction":
            seen.clear()  # what was read is forgotten: reading it again is right
        if step.done is None or not step.worked:
            continue
        for path in step.done.changes:
            known = seen.get(_word(path), {})
            seen[_word(path)] = {key: told for key, told in known.items() if not _same(key[0], path)}
        if step.command and not step.done.reads:
            for word in _WORDS.findall(step.command):
                seen.pop(word, None)  # it may have changed it
        for path in step.done.reads:
            if not _GROWS.search(path):
                told = seen.setdefault(_word(path), {}).setdefault((path, _range(step)), [])
                told.append(step)
                if len(told) >= _READS and len(told) > len(found.get(path, ())):
                    found[path] = list(told)
    for path, told in found.items():
        name = file_name(path, story.project, story.cwd)
        yield signal(
            story, "reread", name, f"{name} is read again and again though it did not change", told, quote=path
        )


def _range(step: Step) -> str:
    given = step.given if isinstance(step.given, dict) else {}
    return commands.short(step.command, 400) if step.command else repr([given.get(name) for name in _RANGE])


def _word(path: str) -> str:
    """Return the word by which a command would name a file: the last one of its name."""
    return next(reversed(_WORDS.findall(_base(path))), "")


def _base(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _same(one: str, other: str) -> bool:
    return one == other or (_base(one) == _base(other) and (one.endswith(other) or other.endswith(one)))


def reedits(story: Story) -> Iterator[Signal]:
    """Yield files whose lines the session wrote and then wrote again, several times."""
    written: dict[str, set[str]] = {}
    rewrites: dict[str, list[Step]] = {}
    at_once: dict[str, list[Step]] = {}
    many: dict[str, list[Step]] = {}
    for step in story.steps:
        if step.kind == "asked":
            at_once = {}
        if step.done is None or step.done.kind != "edit" or not step.worked:
            continue
        old, new = lines(step.given)
        for path in step.done.changes[:1]:
            if (old or whole(step.given)) and (old & written.get(path, set()) or (not old and written.get(path))):
                rewrites.setdefault(path, []).append(step)
            written.setdefault(path, set()).update(new)
            at_once.setdefault(path, []).append(step)
            if len(at_once[path]) >= _EDITS:
                many[path] = at_once[path]
    chosen = {path: told for path, told in rewrites.items() if len(told) >= _REWRITES}
    for path, told in {**many, **chosen}.items():
        name = file_name(path, story.project, story.cwd)
        yield signal(
            story, "reedit", name, f"What was written into {name} is written anew again and again", told, quote=path
        )


def lines(given: Any) -> tuple[set[str], set[str]]:
    """Return the lines an edit takes away and those it puts in, short ones left out."""
    if isinstance(given, str):
        given = {"input": given}
    if not isinstance(given, dict):
        return set(), set()
    old, new = "", ""
    for part in (given, *(each for each in given.get("edits") or () if isinstance(each, dict))):
        old += "\n" + _first(part, "old_string", "old_str", "oldString", "oldText", "search")
        new += "\n" + _first(part, "new_string", "new_str", "newString", "newText", "replace", "content", "file_text")
    for patch in (each for each in given.values() if isinstance(each, str) and "*** Begin Patch" in each):
        old += "\n" + "\n".join(line[1:] for line in patch.splitlines() if line.startswith("-"))
        new += "\n" + "\n".join(line[1:] for line in patch.splitlines() if line.startswith("+"))
    return _long(old), _long(new)


def whole(given: Any) -> bool:
    """Tell whether a file is written as a whole."""
    return isinstance(given, dict) and bool(_first(given, "content", "file_text"))


def _first(given: dict[str, Any], *names: str) -> str:
    return next((given[name] for name in names if isinstance(given.get(name), str)), "")


def _long(text: str) -> set[str]:
    return {line.strip() for line in text.splitlines() if len(line.strip()) >= _LINE}


def test_loops(story: Story) -> Iterator[Signal]:
    """Yield checks that failed again and again, each time after another edit."""
    loops: dict[str, list[Step]] = {}
    edits: list[str] = []
    for step in story.steps:
        if step.done is not None and step.done.changes and step.worked:
            edits += step.done.changes
        passed = problem.passed(step)
        if passed is None:
            continue
        name = check(step.command)
        if passed:
            yield from _loop(story, name, loops.pop(name, []), edits)
            edits = []
        elif edits or name not in loops:
            loops.setdefault(name, []).append(step)
            edits = []
    for name, told in loops.items():
        yield from _loop(story, name, told, [])


def _loop(story: Story, name: str, told: list[Step], edits: list[str]) -> Iterator[Signal]:
    if len(told) < _FAILS:
        return
    fix = f"change {', '.join(dict.fromkeys(_base(path) for path in edits))}" if edits else ""
    text = f"'{name}' fails again and again after edits" + ("" if edits else ", and never passes")
    yield signal(story, "test-loop", name, text, told, fix=fix, quote=problem.line(told[-1]), through=True)


def check(command: str) -> str:
    """Return the shape of that part of a command line that checks something."""
    for part in shape.parts(command):
        line = " ".join(part)
        if commands.purpose(line) in ("test", "build"):
            return shape.shape(line) or commands.short(line, 40)
    return shape.shape(command) or "check"


def reverts(story: Story) -> Iterator[Signal]:
    """Yield work that was done and then thrown away."""
    kept: dict[str, list[Step]] = {}
    edits: list[Step] = []
    asked = ""
    for step in story.steps:
        asked = step.text if step.kind == "asked" else asked
        if step.done is None or not step.worked:
            continue
        discards = _DISCARD.search(step.command) if step.command and not _KEPT.search(step.command) else None
        if discards and edits:
            who = "the user asked for it" if _wanted(asked) else "the agent chose so"
            name = f"{' '.join(discards[0].split()[:2])}: {who}"
            kept.setdefault(name, []).extend([edits[0], step])
            edits = []
        elif step.done.kind == "edit" or commands.purpose(step.command) == "commit":
            edits.append(step)
    for name, told in kept.items():
        verb, _, who = name.partition(": ")
        text = f"Work is thrown away with {verb}, since {who}"
        yield signal(
            story,
            "reverted",
            name,
            text,
            told,
            quote=commands.short(told[-1].command),
            times=len(told) // 2,
            through=True,
        )


def _wanted(asked: str) -> bool:
    return bool(
        re.search(r"\b(?:revert|undo|roll ?back|throw|discard|reset|drop|restore|get rid)\b", asked, re.IGNORECASE)
    )
