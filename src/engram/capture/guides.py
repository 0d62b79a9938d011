"""Guides: what agents keep in memory and instruction files of their own, made findable and never written to."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from engram.capture.discover import machine
from engram.capture.guide_places import Guide, guides
from engram.hub import Hub
from engram.redaction.redactor import Redactor
from engram.store import passages, sessions
from engram.text import PAGE, clean

KIND = "guide"
_LARGEST = 256 * 1024  # bytes of a guide; what is longer is no file an agent reads as a whole
_LONGEST = 2_000  # characters of one passage
_OURS = re.compile(r"<!-- engram:begin.*?(?:<!-- engram:end(?: \w+)? -->|\Z)", re.DOTALL)
_HEADING = re.compile(r"^#{1,6} ", re.MULTILINE)
_FENCE = re.compile(r"^(```|~~~).*?(?:^\1|\Z)", re.MULTILINE | re.DOTALL)


def take_in_guides(hub: Hub, redactor: Redactor) -> int:
    """Make findable what changed in the guides of this machine since the last time; return how many files did."""
    host = machine(hub.engine.dialect)
    known = {
        key: at for key, at in passages.known(hub.engine, KIND).items() if key.startswith(f"{host}:" if host else "")
    }
    found = {_key(host, each.path): each for each in guides(os.environ, sessions.projects(hub.engine))}
    seen = {key: at for key, each in found.items() if (at := _changed_at(each.path)) is not None}
    changed = [key for key, at in seen.items() if known.get(key) != at]
    for key in changed:
        _put(hub, key, found[key], seen[key], redactor)
    gone = known.keys() - seen.keys()
    for key in gone:
        with hub.engine.transaction():
            passages.drop(hub.engine, KIND, key)
    return len(changed) + len(gone)


def parts(text: str) -> list[str]:
    """Return the passages of a guide: one a heading, long ones cut at empty lines; our own blocks are left out."""
    plain = _OURS.sub("", text)
    code = [found.span() for found in _FENCE.finditer(plain)]
    starts = [each.start() for each in _HEADING.finditer(plain) if not any(a <= each.start() < b for a, b in code)]
    edges = sorted({0, *starts, len(plain)})
    sections = (plain[start:end].strip() for start, end in pairwise(edges))
    return [part for section in _titled(section for section in sections if section) for part in _cut(section)]


def _titled(sections: Iterable[str]) -> Iterator[str]:
    """Yield sections, a heading that has nothing under it with the one below."""
    held = ""
    for section in sections:
        held = f"{held}\n{section}" if held else section
        if "\n" in section or not _HEADING.match(section):
            yield held
            held = ""
    if held:
        yield held


def _cut(section: str) -> Iterator[str]:
    """Yield a section in pieces of a passage's length."""
    held = ""
    for block in re.split(r"\n\s*\n", section):
        if held and len(held) + len(block) > _LONGEST:
            yield held
            held = ""
        held = f"{held}\n\n{block}" if held else block
        while len(held) > 2 * _LONGEST:
            yield held[:_LONGEST]
            held = held[_LONGEST:]
    if held:
        yield held


def _put(hub: Hub, key: str, guide: Guide, at: int, redactor: Redactor) -> None:
    said = parts(redactor.clean(_read(guide.path)))
    with hub.engine.transaction():
        passages.put(hub.engine, KIND, key, said, at=at, project=guide.project)
        passages.touch(hub.engine, KIND, key, at)


def _read(path: str) -> str:
    try:
        with open(path, "rb") as file:
            raw = file.read(_LARGEST)
    except OSError:
        return ""
    return clean("guide", raw.decode("utf-8-sig", "replace"), PAGE)


def _changed_at(path: str) -> int | None:
    """Return when a guide was changed; None if it is none."""
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat.st_mtime_ns // 1000 if stat.st_size <= _LARGEST else None


def _key(host: str, path: str) -> str:
    """Return what a guide is known by: its path, and where several machines share a store also whose."""
    name = clean("path", os.fsencode(path).decode("utf-8", "backslashreplace"))
    return f"{host}:{name}" if host else name
