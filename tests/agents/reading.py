"""Shared by the tests of adapters: the samples, ways to read them, and ways to damage them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from engram.agents.transcripts.adapter import HEAD_BYTES, Adapter, Item, Mark
from engram.types import About, Event, Usage

SHARED = Path(__file__).parents[2].parent / "shared"
TRANSCRIPTS = SHARED / "data" / "transcripts"
COUNTS = ("input", "output", "cache_read", "cache_write", "reasoning")


def samples(pattern: str, root: Path = TRANSCRIPTS) -> list[Path]:
    """Return sample files, or skip the test visibly."""
    paths = sorted(path for path in root.glob(pattern) if path.is_file())
    if not paths:
        pytest.skip(f"no samples {pattern} in {root}: real transcripts are not tested")
    return paths


@cache
def heads() -> tuple[tuple[str, bytes], ...]:
    """Return the first bytes of every sample of every flavor."""
    first_bytes = []
    for path in samples("**/*"):
        with path.open("rb") as file:
            first_bytes.append((str(path.relative_to(TRANSCRIPTS)), file.read(HEAD_BYTES)))
    return tuple(first_bytes)


def recognised(adapter: Adapter) -> set[str]:
    """Return the samples an adapter recognizes as its own."""
    return {name for name, head in heads() if adapter.recognises(str(TRANSCRIPTS / name), head)}


def read(adapter: Adapter, path: Path | str, since: Mark | None = None) -> list[Item]:
    """Read a transcript to its end."""
    items = list(adapter.read(str(path), since or Mark()))
    assert isinstance(items[-1], Mark)
    return items


def events(items: Iterable[Item], session: str | None = None) -> list[Event]:
    """Return the events read, as ingest stores them: the last one of each key."""
    kept = {(item.session, item.key): item for item in items if isinstance(item, Event)}
    return [entry for entry in kept.values() if session in (None, entry.session)]


def abouts(items: Iterable[Item]) -> dict[str, dict[str, str]]:
    """Return the final facts about each session."""
    known: dict[str, dict[str, str]] = {}
    for item in items:
        if isinstance(item, About):
            facts = {name: fact for name, fact in vars(item).items() if fact is not None and name != "session"}
            known.setdefault(item.session, {}).update(facts)
    return known


def totals(items: Iterable[Item]) -> dict[str, int]:
    """Return the tokens that count, each reply once with its largest output, unless it is in another one's."""
    kept: dict[str, Usage] = {}
    usage = [item for item in items if isinstance(item, Usage)]
    elsewhere = {item.key for item in usage if not item.counted}
    for item in usage:
        if item.key not in elsewhere and (item.key not in kept or kept[item.key].output < item.output):
            kept[item.key] = item
    return {name: sum(getattr(entry, name) for entry in kept.values()) for name in COUNTS}


def in_steps(adapter: Adapter, path: Path, tmp_path: Path, steps: int = 7) -> list[Item]:
    """Read a growing file, resuming from the last mark each time."""
    whole, copy = path.read_bytes(), tmp_path / path.name
    found: list[Item] = []
    mark = Mark()
    for step in range(1, steps + 1):
        copy.write_bytes(whole[: len(whole) * step // steps])
        found += read(adapter, copy, mark)
        mark = [item for item in found if isinstance(item, Mark)][-1]
    return found


def spoilt(whole: bytes, cuts: int = 12) -> Iterator[bytes]:
    """Yield a file truncated, with holes, and with lines of garbage."""
    for step in range(cuts):
        yield whole[: len(whole) * step // cuts]
    lines = whole.split(b"\n")
    for number in range(0, len(lines), max(1, len(lines) // cuts)):
        for garbage in (b"\x00\xff garbage {", b'{"type":[],"data":7,"message":"x","id":{}}', b"[1]", b"null"):
            yield b"\n".join([*lines[:number], garbage, *lines[number + 1 :]])
    third = len(whole) // 3
    yield whole[:third] + b"\0" * 64 + whole[third + 64 :]


def survives(adapter: Adapter, path: Path, tmp_path: Path, name: str | None = None) -> None:
    """Assert that no damage makes an adapter raise or lose its position."""
    copy = tmp_path / (name or path.name)
    for data in spoilt(path.read_bytes()):
        copy.write_bytes(data)
        adapter.recognises(str(copy), data[:HEAD_BYTES])
        read(adapter, copy)
