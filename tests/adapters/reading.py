"""What the tests of adapters share: the samples, ways to read them, and ways to spoil them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from engram.adapters.adapter import HEAD, Adapter, Item, Mark
from engram.model import About, Event, Usage

SHARED = Path(__file__).parents[2].parent / "shared"
TRANSCRIPTS = SHARED / "data" / "transcripts"
COUNTS = ("input", "output", "cache_read", "cache_write", "reasoning")


def samples(pattern: str, root: Path = TRANSCRIPTS) -> list[Path]:
    """Return sample files, or skip the test loudly."""
    found = sorted(path for path in root.glob(pattern) if path.is_file())
    if not found:
        pytest.skip(f"no samples {pattern} in {root}: real transcripts are not tested")
    return found


@cache
def heads() -> tuple[tuple[str, bytes], ...]:
    """Return the first bytes of every sample of every flavor."""
    found = []
    for path in samples("**/*"):
        with path.open("rb") as file:
            found.append((str(path.relative_to(TRANSCRIPTS)), file.read(HEAD)))
    return tuple(found)


def recognised(adapter: Adapter) -> set[str]:
    """Return which of all samples an adapter takes for its own."""
    return {name for name, head in heads() if adapter.recognises(str(TRANSCRIPTS / name), head)}


def read(adapter: Adapter, path: Path | str, since: Mark | None = None) -> list[Item]:
    """Read a transcript to its end."""
    found = list(adapter.read(str(path), since or Mark()))
    assert isinstance(found[-1], Mark)
    return found


def events(items: Iterable[Item], session: str | None = None) -> list[Event]:
    """Return the events among what was read, as ingest keeps them: the last word of each key."""
    kept = {(each.session, each.key): each for each in items if isinstance(each, Event)}
    return [each for each in kept.values() if session in (None, each.session)]


def abouts(items: Iterable[Item]) -> dict[str, dict[str, str]]:
    """Return what is known of each session in the end."""
    known: dict[str, dict[str, str]] = {}
    for each in items:
        if isinstance(each, About):
            facts = {name: fact for name, fact in vars(each).items() if fact is not None and name != "session"}
            known.setdefault(each.session, {}).update(facts)
    return known


def totals(items: Iterable[Item]) -> dict[str, int]:
    """Return the tokens that count, each answer once with its largest output."""
    kept: dict[str, Usage] = {}
    for each in items:
        if isinstance(each, Usage) and each.counted and (each.key not in kept or kept[each.key].output < each.output):
            kept[each.key] = each
    return {name: sum(getattr(each, name) for each in kept.values()) for name in COUNTS}


def in_steps(adapter: Adapter, path: Path, tmp_path: Path, steps: int = 7) -> list[Item]:
    """Read a file that grows, going on from the last mark each time."""
    whole, copy = path.read_bytes(), tmp_path / path.name
    found: list[Item] = []
    mark = Mark()
    for step in range(1, steps + 1):
        copy.write_bytes(whole[: len(whole) * step // steps])
        found += read(adapter, copy, mark)
        mark = [each for each in found if isinstance(each, Mark)][-1]
    return found


def spoilt(whole: bytes, cuts: int = 12) -> Iterator[bytes]:
    """Yield a file cut, with holes, and with lines that are garbage."""
    for step in range(cuts):
        yield whole[: len(whole) * step // cuts]
    lines = whole.split(b"\n")
    for number in range(0, len(lines), max(1, len(lines) // cuts)):
        for garbage in (b"\x00\xff garbage {", b'{"type":[],"data":7,"message":"x","id":{}}', b"[1]", b"null"):
            yield b"\n".join([*lines[:number], garbage, *lines[number + 1 :]])
    third = len(whole) // 3
    yield whole[:third] + b"\0" * 64 + whole[third + 64 :]


def survives(adapter: Adapter, path: Path, tmp_path: Path, name: str | None = None) -> None:
    """Assert that no damage makes an adapter raise or lose its way."""
    copy = tmp_path / (name or path.name)
    for data in spoilt(path.read_bytes()):
        copy.write_bytes(data)
        adapter.recognises(str(copy), data[:HEAD])
        read(adapter, copy)
