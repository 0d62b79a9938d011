"""Keep the index of exchanges and passages up to date: add what is new, merge what is small, make it anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from engram.hub import Hub
from engram.index.indexed import Indexed
from engram.operation import Help, operation
from engram.store import exchanges, news, passages, segments

if TYPE_CHECKING:
    from collections.abc import Callable

    from engram.index.segment import Doc

    Progress = Callable[[str, int, int], None]  # what is done, how much of it, of how much

_AT_ONCE = 8192  # docs of a new segment
_SMALL = 2048  # of one that is made while a question waits
_FANOUT = 8  # so many segments of one size become one
_LARGEST = 131_072  # docs of a segment that is merged no further
_MUCH = 0.2  # of a segment's docs are dead
_SIZES = 6  # of segments, each eight times the one before, up to the largest


@operation(writes=True)
def index(
    hub: Hub,
    rebuild: Annotated[bool, Help("make it anew from what is stored")] = False,
    embed: Annotated[bool, Help("embed what has no vectors yet")] = True,
) -> Indexed:
    """Bring the index up to date, with vectors for what has none."""
    return bring_up_to_date(hub, rebuild=rebuild, embed=embed)


def bring_up_to_date(
    hub: Hub, *, rebuild: bool = False, embed: bool | str = True, told: Progress | None = None, thorough: bool = True
) -> Indexed:  # fmt: skip
    """Index what waits, then embed what has no vectors ("fast": by the bundled model only).

    Both can be interrupted and go on later. Who comes often need not be thorough: the words of docs that died stay,
    unless a deletion wants them gone or they are many.
    """
    if rebuild:
        _forget_all(hub)
    added, total = 0, segments.backlog(hub.engine)
    while count := step(hub, _AT_ONCE):
        added += count
        if told:
            told("indexed", added, max(total, added))
    if embed != "fast":  # a sweep does not wait for it
        _scrub_if_due(hub, thorough)
    embedded = 0
    if embed:
        from engram.index.embed import embed_all

        embedded = embed_all(hub, told, fast=embed == "fast")
    return Indexed(
        indexed=added, embedded=embedded, waiting=segments.backlog(hub.engine),
        docs=sum(row["count"] for row in segments.overview(hub.engine)),
    )  # fmt: skip


def catch_up(hub: Hub) -> int:
    """Index a little of what waits, so that what was just said can be found; return how much still waits."""
    if not hub.engine.read_only and step(hub, _SMALL, newest=True):
        from engram.index.embed import embed_some

        embed_some(hub, _SMALL)
    return segments.backlog(hub.engine)


def astray(hub: Hub) -> int:
    """Count by how many the index and what it is made of differ, but for what waits."""
    import numpy as np

    from engram.index.kinds import EXCHANGES
    from engram.index.shelf import shelf

    held, count = shelf(hub), 0
    for kind, of_kind in (("exchange", held.kinds < EXCHANGES), ("passage", held.kinds >= EXCHANGES)):
        waiting = [row["source"] for row in segments.waiting(hub.engine, 1 << 40) if row["kind"] == kind]
        sources = held.sources[held.alive & of_kind]
        indexed = np.setdiff1d(sources, waiting)
        wanted = np.array(segments.findable(hub.engine, kind), np.int64)
        twice = len(sources) - len(np.unique(sources))
        count += len(np.setxor1d(indexed, wanted)) + twice
    return count


def _forget_all(hub: Hub) -> None:
    with hub.engine.transaction(durable=True):
        segments.hold(hub.engine)
        segments.clear(hub.engine)
        segments.queue_all(hub.engine)


def step(hub: Hub, limit: int, newest: bool = False) -> int:
    """Index some of what waits as one segment, oldest first, and return how many rows of the queue that settled.

    Words are counted before the transaction; if another process was faster, its work stands and ours is dropped.
    """
    queue = segments.waiting(hub.engine, limit, newest)
    if not queue:
        return 0
    from engram.index import segment

    docs = _docs(hub, queue)
    columns, terms = segment.made(docs)
    with hub.engine.transaction():
        segments.hold(hub.engine)
        if not segments.still_waits(hub.engine, queue):
            return len(queue)
        segments.done(hub.engine, queue)
        _bury(hub, queue)
        if docs:
            first = max((row["first"] + row["count"] for row in segments.overview(hub.engine)), default=0)
            segments.add(hub.engine, first, len(docs), columns, terms)
    merge(hub)
    return len(queue)


def _docs(hub: Hub, queue: Sequence[dict[str, Any]]) -> list[Doc]:
    """Return what is to be found for rows of the queue, those of one session side by side; what is gone is not."""
    said = exchanges.by_id(hub.engine, list({row["source"] for row in queue if row["kind"] == "exchange"}))
    made = passages.by_id(hub.engine, list({row["source"] for row in queue if row["kind"] == "passage"}))
    return [*_said(hub, said), *_made(made)]


def _said(hub: Hub, rows: dict[int, dict[str, Any]]) -> list[Doc]:
    from engram.index.kinds import kind_of
    from engram.index.segment import Doc
    from engram.index.shelf import session_number

    turns = exchanges.turns(hub.engine, [row["id"] for row in rows.values() if row["role"] != "user"])
    return [
        Doc(
            source=row["id"], kind=min(kind_of(row["role"]), 3), session=session_number(row["session_id"]),
            turn=turns.get(row["id"], row["id"]), at=row["at"], text=row["content"],
        )
        for row in sorted(rows.values(), key=lambda row: (row["session_id"], row["at"], row["id"]))
    ]  # fmt: skip


def _made(rows: dict[int, dict[str, Any]]) -> list[Doc]:
    from engram.index.kinds import kind_of
    from engram.index.segment import Doc
    from engram.index.shelf import session_number

    return [
        Doc(
            source=row["id"], kind=kind_of(row["kind"]), session=session_number(row["session_id"] or row["key"]),
            turn=-row["id"], at=row["at"], text=row["content"],
        )
        for row in sorted(rows.values(), key=lambda row: (row["session_id"] or row["key"], row["id"]))
    ]  # fmt: skip


def _bury(hub: Hub, queue: Sequence[dict[str, Any]]) -> None:
    """Mark the docs as dead that the queue's exchanges and passages had before."""
    import numpy as np

    from engram.index.kinds import EXCHANGES
    from engram.index.shelf import DEAD, shelf

    said = [row["source"] for row in queue if row["kind"] == "exchange"]
    made = [row["source"] for row in queue if row["kind"] == "passage"]
    for part in shelf(hub).parts:
        is_said = part["kinds"] < EXCHANGES
        gone = np.where(is_said, np.isin(part["sources"], said), np.isin(part["sources"], made)) & (part["dead"] == 0)
        if gone.any():
            segments.bury(hub.engine, part["id"], np.where(gone, DEAD, part["dead"]).astype("u1").tobytes())


def merge(hub: Hub) -> None:
    """Join neighbouring small segments, so that a question asks few of them."""
    while _mergeable(segments.overview(hub.engine), _covered(hub)):
        with hub.engine.transaction():
            segments.hold(hub.engine)  # another process may have merged or embedded them meanwhile
            if chosen := _mergeable(segments.overview(hub.engine), _covered(hub)):
                _join(hub, chosen)


def _covered(hub: Hub) -> dict[int, tuple[int, ...]]:
    """Return for each segment the spaces that cover it; a segment that is half embedded is left alone."""
    found: dict[int, list[int]] = {}
    for space in segments.spaces(hub.engine):
        for row in segments.coverage(hub.engine, space["id"]):
            whole = row["through"] >= row["count"]
            found.setdefault(row["id"], []).append(space["id"] if whole else -row["id"] if row["through"] else 0)
    return {segment: tuple(spaces) for segment, spaces in found.items()}


def _mergeable(rows: list[dict[str, Any]], covered: dict[int, tuple[int, ...]]) -> list[int]:
    """Return neighbours of equal coverage that are enough to become one, the smallest first."""
    for size in range(_SIZES):
        for run in _runs(rows, covered, size):
            counts = [row["count"] for row in run]
            # One that outweighs all others is not written again for their sake.
            if len(run) >= _FANOUT and sum(counts) >= 2 * max(counts):
                return [row["id"] for row in run]
    return []


def _runs(rows: list[dict[str, Any]], covered: dict[int, tuple[int, ...]], size: int) -> list[list[dict[str, Any]]]:
    """Return the runs of neighbours up to a size that can be joined: covered alike, and together not too large."""
    runs: list[list[dict[str, Any]]] = [[]]
    total = 0
    for row in rows:
        last = runs[-1][-1] if runs[-1] else row
        total += row["count"]
        if _size(row) > size:
            runs.append([])
            total = 0
        elif covered.get(last["id"]) == covered.get(row["id"]) and total <= _LARGEST:
            runs[-1].append(row)
        else:
            runs.append([row])
            total = row["count"]
    return runs


def _size(row: dict[str, Any]) -> int:
    """Return how large a segment is, in powers of the fanout."""
    size, count = 0, row["count"]
    while count >= _FANOUT:
        size, count = size + 1, count // _FANOUT
    return size


def _join(hub: Hub, chosen: list[int]) -> None:
    """Make one segment of neighbours; in a transaction that holds the index."""
    import numpy as np

    from engram.index.segment import joined
    from engram.index.shelf import DTYPES

    rows = [row for each in chosen if (row := segments.columns(hub.engine, each))]
    parts = [
        ({name: np.frombuffer(row[name], dtype) for name, dtype in DTYPES.items()},
         segments.all_postings(hub.engine, row["id"]))
        for row in rows
    ]  # fmt: skip
    columns, terms = joined(parts)
    made = segments.add(hub.engine, rows[0]["first"], sum(row["count"] for row in rows), columns, terms)
    _move_vectors(hub, rows, made)
    for row in rows:
        segments.drop(hub.engine, row["id"])


def _move_vectors(hub: Hub, rows: list[dict[str, Any]], made: int) -> None:
    """Give a segment the vectors of those it is made of: all of them are covered, or it is a single one."""
    import numpy as np

    from engram.index.shelf import DOC

    for space in segments.spaces(hub.engine):
        docs, codes, offset, through = [], [], 0, 0
        for row in rows:
            dead = np.frombuffer(row["dead"], "u1")
            for found in segments.vectors(hub.engine, space["id"], row["id"]):
                through = offset + found["through"]
                places = np.frombuffer(found["docs"], DOC)
                kept = dead[places] == 0
                docs.append((places[kept] + np.uint32(offset)).tobytes())
                codes.append(np.frombuffer(found["codes"], np.int8).reshape(-1, space["dim"])[kept].tobytes())
            offset += row["count"]
        if docs:
            segments.add_vectors(hub.engine, space["id"], made, through, b"".join(docs), b"".join(codes))


def _scrub_if_due(hub: Hub, thorough: bool) -> None:
    """Scrub all where somebody asks for it or a deletion was cut short, else only where much is dead."""
    wanted = news.waiting(hub.engine, news.SCRUB)
    scrub(hub, 0.0 if thorough or wanted else _MUCH)
    with hub.engine.transaction():
        for row in wanted:
            news.settle(hub.engine, news.SCRUB, row)


def scrub(hub: Hub, least: float = 0.0) -> None:
    """Take the words and vectors of dead docs out of the index for good, where at least such a share is dead."""
    import numpy as np

    from engram.index.shelf import DEAD, shelf

    for part in shelf(hub).parts:
        dead = int((part["dead"] == DEAD).sum())
        if not dead or dead < least * part["count"]:
            continue
        with hub.engine.transaction():
            segments.hold(hub.engine)
            held = segments.columns(hub.engine, part["id"])  # merged meanwhile, it has lost them already
            if held and (np.frombuffer(held["dead"], "u1") == DEAD).any():
                _join(hub, [part["id"]])
