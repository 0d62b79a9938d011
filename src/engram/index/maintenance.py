"""Keep the index of exchanges and passages current: add new docs, merge small segments, rebuild."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from engram.hub import Hub
from engram.index.coverage import needs_fast_embedding
from engram.index.index_report import Indexed
from engram.operation import Help, operation
from engram.store import dream_inbox, exchanges, index_segments, passages

if TYPE_CHECKING:
    from collections.abc import Callable

    from engram.index.segment import IndexDoc

    Progress = Callable[[str, int, int], None]  # activity, amount done, total

_AT_ONCE = 8192  # docs in a new segment
_SMALL = 2048  # docs in one built while a question waits
_FANOUT = 8  # this many segments of one size are merged
_LARGEST = 131_072  # docs of a segment that is not merged further
_MUCH_DEAD = 0.2  # share of deleted docs from which a segment is scrubbed
_SIZES = 6  # size classes of segments, each eight times the one before


@operation(writes=True)
def index(
    hub: Hub,
    rebuild: Annotated[bool, Help("rebuild it from the stored data")] = False,
    embed: Annotated[bool, Help("embed docs that have no vectors yet")] = True,
) -> Indexed:
    """Update the search index, including missing vectors."""
    return update_index(hub, rebuild=rebuild, embed=embed)


def update_index(
    hub: Hub,
    *,
    rebuild: bool = False,
    embed: bool | str = True,
    progress: Progress | None = None,
    thorough: bool = True,
) -> Indexed:
    """Index queued docs, then embed docs without vectors ("fast": with the bundled model only).

    Both can be interrupted and continued. The words of deleted docs stay until a deletion requires their removal
    or there are many of them.
    """
    if rebuild:
        _reset_index(hub)
    added, total = 0, index_segments.count_queued(hub.engine)
    while count := index_batch(hub, _AT_ONCE):
        added += count
        if progress:
            progress("indexed", added, max(total, added))
    if embed != "fast":  # an ingest does not wait for it
        _scrub_if_due(hub, thorough)
    embedded = 0
    if embed and (embed != "fast" or needs_fast_embedding(hub)):
        from engram.index.embedding import embed_all

        embedded = embed_all(hub, progress, fast=embed == "fast")
    return Indexed(
        indexed=added,
        embedded=embedded,
        waiting=index_segments.count_queued(hub.engine),
        docs=sum(row["count"] for row in index_segments.list_segments(hub.engine)),
    )


def index_recent(hub: Hub) -> int:
    """Index a few of the queued docs, so that recent messages are found; return how many are still queued."""
    if not hub.engine.read_only and index_batch(hub, _SMALL, newest=True):
        from engram.index.embedding import embed_some

        embed_some(hub, _SMALL)
    return index_segments.count_queued(hub.engine)


def count_mismatches(hub: Hub) -> int:
    """Count the differences between the index and the stored data, except what is queued."""
    import numpy as np

    from engram.index.doc_kinds import EXCHANGES
    from engram.index.snapshot import load_snapshot

    snapshot, count = load_snapshot(hub), 0
    for kind, of_kind in (("exchange", snapshot.kinds < EXCHANGES), ("passage", snapshot.kinds >= EXCHANGES)):
        waiting = [row["source"] for row in index_segments.list_queued(hub.engine, 1 << 40) if row["kind"] == kind]
        sources = snapshot.sources[snapshot.alive & of_kind]
        indexed = np.setdiff1d(sources, waiting)
        expected = np.array(index_segments.list_indexed_ids(hub.engine, kind), np.int64)
        repeated = len(sources) - len(np.unique(sources))
        count += len(np.setxor1d(indexed, expected)) + repeated
    return count


def _reset_index(hub: Hub) -> None:
    with hub.engine.transaction(durable=True):
        index_segments.lock_index(hub.engine)
        index_segments.clear_index(hub.engine)
        index_segments.queue_all(hub.engine)


def index_batch(hub: Hub, limit: int, newest: bool = False) -> int:
    """Index a batch of queued docs as one segment, oldest first; return the number of queue rows processed.

    Words are counted before the transaction; if another process was faster, its work stays and ours is dropped.
    """
    queue = index_segments.list_queued(hub.engine, limit, newest)
    if not queue:
        return 0
    from engram.index import segment

    docs = _build_docs(hub, queue)
    columns, terms = segment.build_segment(docs)
    with hub.engine.transaction():
        index_segments.lock_index(hub.engine)
        if not index_segments.is_still_queued(hub.engine, queue):
            return len(queue)
        index_segments.remove_from_queue(hub.engine, queue)
        _mark_docs_dead(hub, queue)
        if docs:
            first = max((row["first"] + row["count"] for row in index_segments.list_segments(hub.engine)), default=0)
            index_segments.add_segment(hub.engine, first, len(docs), columns, terms)
    merge_segments(hub)
    return len(queue)


def _build_docs(hub: Hub, queue: Sequence[dict[str, Any]]) -> list[IndexDoc]:
    """Return the docs for rows of the queue, grouped by session; deleted ones are left out."""
    exchange_rows = exchanges.fetch_by_ids(
        hub.engine, list({row["source"] for row in queue if row["kind"] == "exchange"})
    )
    passage_rows = passages.fetch_by_ids(hub.engine, list({row["source"] for row in queue if row["kind"] == "passage"}))
    return [*_build_exchange_docs(hub, exchange_rows), *_build_passage_docs(passage_rows)]


def _build_exchange_docs(hub: Hub, rows: dict[int, dict[str, Any]]) -> list[IndexDoc]:
    from engram.index.doc_kinds import get_kind_number
    from engram.index.segment import IndexDoc
    from engram.index.snapshot import hash_session_id

    turns = exchanges.find_prompt_ids(hub.engine, [row["id"] for row in rows.values() if row["role"] != "user"])
    return [
        IndexDoc(
            source=row["id"], kind=min(get_kind_number(row["role"]), 3), session=hash_session_id(row["session_id"]),
            turn=turns.get(row["id"], row["id"]), at=row["at"], text=row["content"],
        )
        for row in sorted(rows.values(), key=lambda row: (row["session_id"], row["at"], row["id"]))
    ]  # fmt: skip


def _build_passage_docs(rows: dict[int, dict[str, Any]]) -> list[IndexDoc]:
    from engram.index.doc_kinds import get_kind_number
    from engram.index.segment import IndexDoc
    from engram.index.snapshot import hash_session_id

    return [
        IndexDoc(
            source=row["id"],
            kind=get_kind_number(row["kind"]),
            session=hash_session_id(row["session_id"] or row["key"]),
            turn=-row["id"],
            at=row["at"],
            text=row["content"],
        )
        for row in sorted(rows.values(), key=lambda row: (row["session_id"] or row["key"], row["id"]))
    ]


def _mark_docs_dead(hub: Hub, queue: Sequence[dict[str, Any]]) -> None:
    """Mark the old docs of the queued exchanges and passages as deleted."""
    import numpy as np

    from engram.index.doc_kinds import EXCHANGES
    from engram.index.snapshot import DEAD, load_snapshot

    exchange_ids = [row["source"] for row in queue if row["kind"] == "exchange"]
    passage_ids = [row["source"] for row in queue if row["kind"] == "passage"]
    for part in load_snapshot(hub).parts:
        is_exchange = part["kinds"] < EXCHANGES
        is_dead = np.where(
            is_exchange, np.isin(part["sources"], exchange_ids), np.isin(part["sources"], passage_ids)
        ) & (part["dead"] == 0)
        if is_dead.any():
            index_segments.save_dead_docs(
                hub.engine, part["id"], np.where(is_dead, DEAD, part["dead"]).astype("u1").tobytes()
            )


def merge_segments(hub: Hub) -> None:
    """Merge neighboring small segments, so that a search reads few of them."""
    while _find_mergeable(index_segments.list_segments(hub.engine), _find_coverage(hub)):
        with hub.engine.transaction():
            index_segments.lock_index(hub.engine)  # another process may have merged or embedded them in the meantime
            if chosen := _find_mergeable(index_segments.list_segments(hub.engine), _find_coverage(hub)):
                _join_segments(hub, chosen)


def _find_coverage(hub: Hub) -> dict[int, tuple[int, ...]]:
    """Return for each segment the spaces that cover it; a partly embedded segment is left alone."""
    coverage: dict[int, list[int]] = {}
    for space in index_segments.list_spaces(hub.engine):
        for row in index_segments.list_coverage(hub.engine, space["id"]):
            is_covered = row["through"] >= row["count"]
            coverage.setdefault(row["id"], []).append(
                space["id"] if is_covered else -row["id"] if row["through"] else 0
            )
    return {segment: tuple(spaces) for segment, spaces in coverage.items()}


def _find_mergeable(rows: list[dict[str, Any]], covered: dict[int, tuple[int, ...]]) -> list[int]:
    """Return enough neighbors of equal coverage to merge, the smallest first."""
    for size in range(_SIZES):
        for run in _find_runs(rows, covered, size):
            counts = [row["count"] for row in run]
            # A segment larger than all others together is not rewritten for them.
            if len(run) >= _FANOUT and sum(counts) >= 2 * max(counts):
                return [row["id"] for row in run]
    return []


def _find_runs(
    rows: list[dict[str, Any]], covered: dict[int, tuple[int, ...]], size: int
) -> list[list[dict[str, Any]]]:
    """Return the runs of neighbors up to a size that can be merged: equally covered, and together not too large."""
    runs: list[list[dict[str, Any]]] = [[]]
    total = 0
    for row in rows:
        last = runs[-1][-1] if runs[-1] else row
        total += row["count"]
        if _compute_size_class(row) > size:
            runs.append([])
            total = 0
        elif covered.get(last["id"]) == covered.get(row["id"]) and total <= _LARGEST:
            runs[-1].append(row)
        else:
            runs.append([row])
            total = row["count"]
    return runs


def _compute_size_class(row: dict[str, Any]) -> int:
    """Return the size class of a segment, in powers of the fanout."""
    size, count = 0, row["count"]
    while count >= _FANOUT:
        size, count = size + 1, count // _FANOUT
    return size


def _join_segments(hub: Hub, chosen: list[int]) -> None:
    """Merge neighboring segments into one; call in a transaction that holds the index lock."""
    import numpy as np

    from engram.index.segment import join_segments
    from engram.index.snapshot import DTYPES

    rows = [row for segment_id in chosen if (row := index_segments.read_segment(hub.engine, segment_id))]
    parts = [
        ({name: np.frombuffer(row[name], dtype) for name, dtype in DTYPES.items()},
         index_segments.read_all_postings(hub.engine, row["id"]))
        for row in rows
    ]  # fmt: skip
    columns, terms = join_segments(parts)
    new_segment = index_segments.add_segment(
        hub.engine, rows[0]["first"], sum(row["count"] for row in rows), columns, terms
    )
    _move_vectors(hub, rows, new_segment)
    for row in rows:
        index_segments.delete_segment(hub.engine, row["id"])


def _move_vectors(hub: Hub, rows: list[dict[str, Any]], new_segment: int) -> None:
    """Give a merged segment the vectors of its parts: all of them are covered, or it is a single one."""
    import numpy as np

    from engram.index.snapshot import DOC

    for space in index_segments.list_spaces(hub.engine):
        docs, codes, offset, through = [], [], 0, 0
        for row in rows:
            dead = np.frombuffer(row["dead"], "u1")
            for stored in index_segments.read_vectors(hub.engine, space["id"], row["id"]):
                through = offset + stored["through"]
                positions = np.frombuffer(stored["docs"], DOC)
                is_alive = dead[positions] == 0
                docs.append((positions[is_alive] + np.uint32(offset)).tobytes())
                codes.append(np.frombuffer(stored["codes"], np.int8).reshape(-1, space["dim"])[is_alive].tobytes())
            offset += row["count"]
        if docs:
            index_segments.add_vectors(hub.engine, space["id"], new_segment, through, b"".join(docs), b"".join(codes))


def _scrub_if_due(hub: Hub, thorough: bool) -> None:
    """Scrub everything if asked or if a deletion was interrupted, else only where much is deleted."""
    requests = dream_inbox.list_waiting(hub.engine, dream_inbox.SCRUB)
    scrub_dead_docs(hub, 0.0 if thorough or requests else _MUCH_DEAD)
    with hub.engine.transaction():
        for row in requests:
            dream_inbox.mark_done(hub.engine, dream_inbox.SCRUB, row)


def scrub_dead_docs(hub: Hub, least: float = 0.0) -> None:
    """Remove the words and vectors of deleted docs from segments with at least this share of them."""
    import numpy as np

    from engram.index.snapshot import DEAD, load_snapshot

    for part in load_snapshot(hub).parts:
        dead = int((part["dead"] == DEAD).sum())
        if not dead or dead < least * part["count"]:
            continue
        with hub.engine.transaction():
            index_segments.lock_index(hub.engine)
            current = index_segments.read_segment(hub.engine, part["id"])  # merged in the meantime, which removed them
            if current and (np.frombuffer(current["dead"], "u1") == DEAD).any():
                _join_segments(hub, [part["id"]])
