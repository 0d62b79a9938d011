"""How an adapter is tried: on the collected samples, in steps, truncated and damaged."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import orjson
import pytest

from engram.agents.transcripts.adapter import HEAD_BYTES, Adapter, Item, Mark
from engram.types import About, Event, Usage

SHARED = Path(__file__).parents[2].parent / "shared"
TRANSCRIPTS = SHARED / "data" / "transcripts"
CLIENTS = SHARED / "realclients" / "samples"


def shared(*parts: str) -> Path:
    """Return a path among the collected samples, or skip if they are not available."""
    place = SHARED.joinpath(*parts)
    if not place.exists():
        pytest.skip(f"the collected samples are missing: {place}")
    return place


def files(root: Path) -> list[Path]:
    """Return every file below a path."""
    return sorted(path for path in root.rglob("*") if path.is_file())


def ours(adapter: Adapter, root: Path) -> list[Path]:
    """Return the files below a path that an adapter recognizes."""
    return [path for path in files(root) if adapter.recognises(str(path), path.read_bytes()[:HEAD_BYTES])]


def read(adapter: Adapter, path: Path, since: Mark | None = None) -> list[Item]:
    """Return all items of a transcript, and assert that its marks can be saved."""
    items = list(adapter.read(str(path), since or Mark()))
    assert isinstance(items[-1], Mark)
    assert all(orjson.dumps(item.state) for item in items if isinstance(item, Mark))
    return items


def events(items: list[Item], *kinds: str) -> list[Event]:
    """Return the events in order, the last one of each key."""
    last = {(item.session, item.key): item for item in items if isinstance(item, Event)}
    return sorted((entry for entry in last.values() if not kinds or entry.kind in kinds), key=lambda event: event.order)


def about(items: list[Item]) -> dict[str, Any]:
    """Return the facts about the sessions; later values win."""
    facts: dict[str, Any] = {}
    for item in items:
        if isinstance(item, About):
            facts.update({name: fact for name, fact in vars(item).items() if fact is not None})
    return facts


def usages(items: list[Item]) -> dict[str, Usage]:
    """Return the replies that count, each once, with its largest output."""
    counted: dict[str, Usage] = {}
    for item in items:
        if isinstance(item, Usage) and item.counted:
            known = counted.get(item.key)
            counted[item.key] = item if known is None or item.output >= known.output else known
    return counted


def tokens(items: list[Item]) -> tuple[int, int, int]:
    """Return sums comparable to the truth: input, output, read from the cache."""
    texts = usages(items).values()
    return sum(u.input for u in texts), sum(u.output for u in texts), sum(u.cache_read for u in texts)


def truth(flavor: str) -> tuple[int, int, int]:
    """Return what the generated sessions really used."""
    facts = orjson.loads(shared("data", "transcripts", "generated_truth.json").read_bytes())["truth"][flavor]
    return facts["input"], facts["output"], facts["cache_read"]


def same_in_steps(adapter: Adapter, path: Path, folder: Path, step: int) -> None:
    """Assert that reading a growing transcript, each time from the last mark, gives the same as one read."""
    target = folder / "growing"
    shutil.copytree(path.parent, target, dirs_exist_ok=True)
    copy, content = target / path.name, path.read_bytes()
    found: list[Item] = []
    mark = Mark()
    for end in (*range(0, len(content), step), len(content)):
        copy.write_bytes(content[:end])
        items = read(adapter, copy, mark)
        found += items
        mark = next(item for item in reversed(items) if isinstance(item, Mark))
        mark = Mark(offset=mark.offset, state=orjson.loads(orjson.dumps(mark.state)))
    once = read(adapter, copy)
    assert events(found) == events(once)
    assert usages(found) == usages(once)
    assert about(found) == about(once)


def spoilt(content: bytes, cut: int, line: int, garbage: bytes) -> bytes:
    """Return a transcript truncated somewhere and with one line of garbage."""
    lines = content.split(b"\n")
    lines[line % len(lines)] = garbage
    joined = b"\n".join(lines)
    return joined[: cut % (len(joined) + 1)]


def written(path: Path, *records: Any) -> Path:
    """Write a transcript of one record per line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    return path
