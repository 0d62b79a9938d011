"""Guides: what agents keep in memory and instruction files of their own, made findable and never written to."""

from __future__ import annotations

import os
import re

from engram.capture.discover import machine
from engram.capture.guide_places import Guide, guides
from engram.hub import Hub
from engram.redaction.redactor import Redactor
from engram.sections import split_sections
from engram.store import passages, sessions
from engram.text import PAGE, clean

KIND = "guide"
_LARGEST = 256 * 1024  # bytes of a guide; what is longer is no file an agent reads as a whole
_OURS = re.compile(r"<!-- engram:begin.*?(?:<!-- engram:end(?: \w+)? -->|\Z)", re.DOTALL)


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
    """Return the passages of a guide; our own blocks are left out."""
    return split_sections(_OURS.sub("", text))


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
