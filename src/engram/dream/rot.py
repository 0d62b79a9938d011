"""The rot meter: what repeats itself among gists, articles and daily entries, and our own words that come back.

Only news is looked at: a document when it was written, a session when it went on after it was told something.
"""

from __future__ import annotations

from engram.clock import HOUR, SECOND
from engram.coordination.overview import rot as meter
from engram.dream import echo, likeness
from engram.errors import StoreBusy, StoreDamaged, StoreFull, StoreUnavailable
from engram.hub import Hub
from engram.store import entries, likenesses, news, passages, rot, told
from engram.text import reason
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from engram.store.engine import Row

__all__ = ["Inspected", "keep", "meter", "step"]

_REMEMBERED = 30 * 24 * HOUR  # what was told
_AT_ONCE = 500  # documents and sessions
_COMPARED = 8  # documents with one
_SKEW = 60 * SECOND  # agents write down a prompt before its hooks are done
_SPOKEN = ("user", "assistant")


@value
class Inspected:
    """What a look at the news came to."""

    looked: int  # at so many documents and sessions
    found: int  # duplicates, near-duplicates and loops that are new
    left: int  # for another time
    failed: dict[str, str]  # what could not be looked at, and why


def step(hub: Hub, stop: Callable[[], bool] | None = None) -> Inspected:
    """Look at what is new until somebody says to stop; what is wrong with one does not keep from the others."""
    looked = found = 0
    failed: dict[str, str] = {}
    _forget(hub)
    while rows := [
        row for row in news.waiting(hub.engine, news.ROT, _AT_ONCE + len(failed)) if row["key"] not in failed
    ]:
        for row in rows:
            if stop is not None and stop():
                return Inspected(looked=looked, found=found, left=news.count(hub.engine, news.ROT), failed=failed)
            try:
                found += _look(hub, row)
                looked += 1
            except (StoreBusy, StoreFull, StoreUnavailable, StoreDamaged):
                raise  # no other would fare better
            except Exception as problem:
                failed[row["key"]] = reason(problem)
    return Inspected(looked=looked, found=found, left=len(failed), failed=failed)


def keep(hub: Hub, what: str, found: Iterable[tuple[str, str, str]]) -> None:
    """Let these (kind, key, other) be all that is known to be stale or replaced."""
    with hub.engine.transaction():
        rot.keep(hub.engine, what, found, hub.now())


def _forget(hub: Hub) -> None:
    with hub.engine.transaction():
        told.forget(hub.engine, hub.now() - _REMEMBERED)


def _look(hub: Hub, row: Row) -> int:
    kind, _, key = str(row["key"]).partition("\t")
    return _session(hub, key, row) if kind == "session" else _document(hub, kind, key, row)


def _document(hub: Hub, kind: str, key: str, row: Row) -> int:
    """Compare a document with those like it; return how many it repeats."""
    said = likeness.words(passages.content(hub.engine, kind, key))
    known, exact = likenesses.get(hub.engine, kind, key), likeness.exact(said)
    if known and known["exact"] == exact:
        _settle(hub, row)
        return 0
    runs = likeness.runs(said)
    bands = likeness.bands(runs)
    near = _near(hub, kind, key, runs, bands)
    with hub.engine.transaction():
        now = hub.now()
        same = likenesses.same(hub.engine, kind, key, exact) if said else None
        likenesses.put(hub.engine, kind, key, exact, [] if same else bands, now)
        rot.outdate(hub.engine, kind, key, passages.times(hub.engine, kind, [key]).get(key, 0))
        pairs = [(rot.DUPLICATE, key, same)] if same else [(rot.NEAR, *sorted((key, other))[::-1]) for other in near]
        for what, one, other in pairs:
            rot.put(hub.engine, what, kind, one, other, now)
        news.settle(hub.engine, news.ROT, row)
    return len(pairs)


def _near(hub: Hub, kind: str, key: str, runs: frozenset[int], bands: list[str]) -> list[str]:
    """Return the documents that share most of their words with one."""
    some = likenesses.near(hub.engine, kind, key, bands, _COMPARED)
    texts = ((other, passages.content(hub.engine, kind, other)) for other in some)
    return [
        other for other, text in texts if likeness.share(runs, likeness.runs(likeness.words(text))) >= likeness.ALIKE
    ]


def _session(hub: Hub, session_id: str, row: Row) -> int:
    """Compare what a session said since the last time with what it was told; return how much of it is ours."""
    texts = told.of_session(hub.engine, session_id)
    heard = [(int(each["at"]) - _SKEW, echo.ours(each["content"])) for each in texts]
    new = entries.new(hub.engine, session_id, max((int(each["through"]) for each in texts), default=1 << 62))
    echoes = [each for each in new if each["role"] in _SPOKEN and _is_echo(each, heard)]
    with hub.engine.transaction():
        for each in echoes:
            rot.put(hub.engine, rot.LOOP, "exchange", str(each["id"]), session_id, hub.now())
        if new:
            told.move(hub.engine, session_id, int(new[-1]["id"]))
        news.settle(hub.engine, news.ROT, row)
    return len(echoes)


def _is_echo(row: Row, heard: list[tuple[int, frozenset[int]]]) -> bool:
    before = [runs for at, runs in heard if at <= int(row["at"])]
    return bool(before) and echo.is_echo(row["content"], frozenset().union(*before))


def _settle(hub: Hub, row: Row) -> None:
    with hub.engine.transaction():
        news.settle(hub.engine, news.ROT, row)
