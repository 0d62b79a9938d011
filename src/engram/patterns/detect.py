"""Detect: look through the sessions that are new, and bring what keeps happening as candidates for a rule."""

from __future__ import annotations

from typing import Annotated, Any

from engram.clock import MINUTE
from engram.coordination import sessions
from engram.errors import StoreBusy, StoreFull, StoreUnavailable
from engram.hub import Hub
from engram.operation import Help, operation
from engram.patterns.candidate import Candidate, Detected
from engram.store import news, patterns, signals
from engram.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engram.patterns.signal import Signal
    from engram.patterns.steps import Story
    from engram.store.engine import Row

_QUIET = 30 * MINUTE  # a session that said nothing for so long is over for now
_TRIES = 3
_WORDED = 5  # rules a model is asked for at a time


@operation(writes=True)
def detect(
    hub: Hub,
    min_frequency: Annotated[int, Help("only what at least so many sessions tell")] = 2,
    project: Annotated[str | None, Help("only of this project")] = None,
    since: Annotated[str | None, Help("only what happened since: 7d, 12h, 2026-11-01, last week")] = None,
    limit: Annotated[int, Help("at most so many candidates")] = 30,
) -> Detected:
    """Look through new sessions and rank what keeps going wrong or right, as candidates for a rule."""
    from engram.recall.recall import edge, time_of

    least, most = sessions.positive("min_frequency", min_frequency), sessions.positive("limit", limit)
    room, start = sessions.room(project), edge("since", since, time_of(hub, None))
    looked = look_through(hub)
    found, more = candidates(hub, least, room, start, most)
    worded, failed = _worded(hub, found), signals.undetected(hub.engine)
    waiting = [row["key"] for row in news.waiting(hub.engine, news.DETECT)]
    return Detected(
        sessions=len(looked), signals=sum(looked),
        candidates=tuple(candidates(hub, least, room, start, most)[0] if worded else found), more=more,
        open=sum(1 for each in waiting if each not in failed), failed=failed, worded=worded,
    )  # fmt: skip


def look_through(hub: Hub, stop: Callable[[], bool] = lambda: False) -> list[int]:
    """Look through the sessions that are new, until somebody says to stop; return how much each of them told."""
    from engram.patterns.settle import heal

    looked = []
    for row in news.waiting(hub.engine, news.DETECT):
        if stop():
            break
        told = _tried(hub, row)
        looked += [] if told is None else [told]
    heal(hub)
    return looked


def word(hub: Hub) -> int:
    """Let a model, where one may be asked, word the best candidates; return how many it did."""
    return _worded(hub, candidates(hub, 2, None, None, 30)[0])


def _tried(hub: Hub, row: Row) -> int | None:
    """Look through one session; whatever is wrong with it, the others are looked through as well."""
    try:
        return look(hub, row)
    except (StoreBusy, StoreFull, StoreUnavailable):
        raise  # nothing is wrong with the session
    except Exception as problem:
        told = one_line(f"{type(problem).__name__}: {problem}", 300)
        with hub.engine.transaction():
            if signals.failed(hub.engine, row["key"], told, hub.now()) >= _TRIES:
                news.settle(hub.engine, news.DETECT, row)
        return None


def look(hub: Hub, row: Row) -> int:
    """Put the signals of a session in place of those it had, and settle its news, all or nothing."""
    from engram.patterns.signals import signals_of
    from engram.patterns.steps import story

    told = story(hub, row["key"])
    over = told is None or told.last_at < hub.now() - _QUIET
    found = signals_of(told, over=over) if told else []
    vectors = _vectors(hub, found)
    with hub.engine.transaction():
        patterns.hold(hub.engine)  # whoever settles meanwhile would take this for counted
        if told:
            rows = [_row(told, each) for each in found]
            touched = signals.replace(hub.engine, told.session, rows, keep=not told.whole)
            patterns.touch(hub.engine, [_fingerprint(kind, each, vectors) for kind, each in sorted(touched)])
            signals.mended(hub.engine, told.session)
        if over:
            news.settle(hub.engine, news.DETECT, row)
    return len(found)


def _vectors(hub: Hub, found: Sequence[Signal]) -> dict[tuple[str, str], bytes]:
    """Return what the fingerprints mean that are words."""
    from engram.llm import embedder
    from engram.patterns.cluster import BY_MEANING, coded

    wanted = [each for each in found if each.kind in BY_MEANING]
    if not wanted or embedder.name(hub.settings) == embedder.OFF:
        return {}
    model = embedder.load(embedder.STATIC, hub.settings)
    codes = coded(model.embed([each.fingerprint for each in wanted]))
    return {(each.kind, each.fingerprint): code for each, code in zip(wanted, codes, strict=True)}


def _fingerprint(kind: str, fingerprint: str, vectors: dict[tuple[str, str], bytes]) -> dict[str, Any]:
    from engram.patterns.fingerprint import pattern_id

    return {
        "kind": kind, "fingerprint": fingerprint, "pattern": pattern_id(kind, fingerprint),
        "vector": vectors.get((kind, fingerprint)),
    }  # fmt: skip


def _row(told: Story, each: Signal) -> dict[str, Any]:
    import json

    return {
        "session_id": told.session, "project": told.project, "flavor": told.flavor,
        **{name: getattr(each, name) for name in ("kind", "fingerprint", "text", "quote", "fix", "times", "at")},
        "evidence": json.dumps(each.evidence), "tokens": each.tokens, "seconds": each.seconds,
    }  # fmt: skip


def candidates(
    hub: Hub, least: int, project: str | None, since: int | None, limit: int
) -> tuple[list[Candidate], int]:  # fmt: skip
    """Return the best candidates, and how many there are beyond them."""
    from engram.patterns.rank import candidate, distinct, ranked

    rows = ranked(patterns.frequent(hub.engine, least, project, since), hub.now())
    first = rows[: limit * 3]
    told = signals.newest(hub.engine, {row["id"]: row["signals"] for row in first})
    chosen = distinct([row for row in first if row["id"] in told], told)
    found = [candidate(row, told[row["id"]], also) for row, also in chosen[:limit]]
    return found, len(rows) - len(found) - sum(len(each.also) for each in found)


def _worded(hub: Hub, found: Sequence[Candidate]) -> int:
    """Let a model, where one is chosen, word the best candidates it has not worded yet; return how many it did."""
    from engram.memory.thinker import Thinker
    from engram.patterns.fingerprint import safe

    thinker, done = Thinker(hub), 0
    for each in [each for each in found if not each.worded_by.startswith("model:")][:_WORDED]:
        thought = thinker.ask("pattern", _told(each), prose="rule", lists=("fix",))
        if thought is not None:
            rule, fix = safe(thought.data["rule"], 400), safe("; ".join(thought.data["fix"]), 400)
            with hub.engine.transaction():
                patterns.propose(hub.engine, each.id, rule, fix, thought.made_by)
            done += 1
    return done


def _told(each: Candidate) -> str:
    """Return what a model is told of a candidate."""
    lines = [
        f"kind: {each.kind}", f"what: {each.title}", f"seen in {each.sessions} sessions, {each.times} times",
        f"agents: {', '.join(each.flavors)}", f"what worked: {each.fix or 'not known'}", "quotes:",
    ]  # fmt: skip
    return "\n".join([*lines, *(f"- {piece.quote}" for piece in each.evidence)])
