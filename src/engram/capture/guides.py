"""Guides: the agents' own memory and instruction files, indexed for recall and never modified."""

from __future__ import annotations

import os
import re

from engram.agents.agent import GuideFile
from engram.capture.discover import get_machine
from engram.capture.guide_files import list_guides
from engram.hub import Hub
from engram.platform.sections import split_sections
from engram.platform.text import PAGE, validate_text
from engram.redaction.redactor import Redactor
from engram.sessions.checkouts import list_project_directories
from engram.store import passages

KIND = "guide"
_LARGEST = 256 * 1024  # bytes; agents do not read larger files as a whole
_OURS = re.compile(r"<!-- engram:begin.*?(?:<!-- engram:end(?: \w+)? -->|\Z)", re.DOTALL)


def ingest_guides(hub: Hub, redactor: Redactor) -> int:
    """Index guides on this machine that changed since the last time; return how many files changed."""
    host = get_machine(hub.engine.dialect)
    known_times = {
        key: at
        for key, at in passages.list_documents(hub.engine, KIND).items()
        if key.startswith(f"{host}:" if host else "")
    }
    by_key = {_build_key(host, guide.path): guide for guide in list_guides(list_project_directories(hub))}
    current_times = {key: at for key, guide in by_key.items() if (at := _get_changed_at(guide.path)) is not None}
    changed = [key for key, at in current_times.items() if known_times.get(key) != at]
    for key in changed:
        _store_guide(hub, key, by_key[key], current_times[key], redactor)
    removed = known_times.keys() - current_times.keys()
    for key in removed:
        with hub.engine.transaction():
            passages.delete(hub.engine, KIND, key)
    return len(changed) + len(removed)


def split_guide(text: str) -> list[str]:
    """Return the passages of a guide, without our own blocks."""
    return split_sections(_OURS.sub("", text))


def _store_guide(hub: Hub, key: str, guide: GuideFile, at: int, redactor: Redactor) -> None:
    sections = split_guide(redactor.redact(_read_guide(guide.path)))
    with hub.engine.transaction():
        passages.save_parts(hub.engine, KIND, key, sections, at=at, project=guide.project)
        passages.set_time(hub.engine, KIND, key, at)


def _read_guide(path: str) -> str:
    try:
        with open(path, "rb") as file:
            raw = file.read(_LARGEST)
    except OSError:
        return ""
    return validate_text("guide", raw.decode("utf-8-sig", "replace"), PAGE)


def _get_changed_at(path: str) -> int | None:
    """Return when a guide was changed, or None if it is missing or too large."""
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat.st_mtime_ns // 1000 if stat.st_size <= _LARGEST else None


def _build_key(host: str, path: str) -> str:
    """Return the key of a guide: its path, prefixed by the host if several machines share the store."""
    name = validate_text("path", os.fsencode(path).decode("utf-8", "backslashreplace"))
    return f"{host}:{name}" if host else name
