"""Steps: what a pass can do, in causal order. Each is small, goes on where it stopped, and stops when time is out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from engram.capture import spool, worker
from engram.compiler import compile as compiling
from engram.dream import reflect, rot, senses
from engram.dream.done import Done
from engram.dream.drives import COHERENCE, CONTINUITY, CURIOSITY, HYGIENE
from engram.errors import (
    CompileRunning,
    DreamRunning,
    StoreBusy,
    StoreDamaged,
    StoreFull,
    StoreUnavailable,
    SweepRunning,
)  # fmt: skip
from engram.hub import Hub
from engram.memory import eras, gist
from engram.memory.thinker import Thinker
from engram.patterns import detect as detecting
from engram.store import exchanges, news, patterns, segments, signals
from engram.text import counted, reason
from engram.value import value
from engram.wiki import flush as flushing
from engram.wiki import lint as linting

if TYPE_CHECKING:
    from engram.store.engine import Row


@value
class Step:
    """One unit of work."""

    name: str
    drive: str
    waits: Callable[[Hub], int]  # how much there is to do
    run: Callable[[Hub, Callable[[], bool]], Done]  # until somebody says to stop
    always: bool = False  # due as soon as there is something to do, whatever the drive
    all: Callable[[Hub], int] | None = None  # how much there is to do for who does not wait until it is enough


# No other piece of work would fare better.
FATAL = (StoreBusy, StoreFull, StoreUnavailable, StoreDamaged, DreamRunning)


class OutOfTime(Exception):
    """No time is left for work that goes on next time."""


def _ingest_waits(hub: Hub) -> int:
    return len(spool.waiting(hub.settings.home)) + worker.is_look_due(hub)


def _ingest(hub: Hub, _: Callable[[], bool]) -> Done:
    try:
        found = worker.catch_up(hub)
    except SweepRunning:
        return Done(step="ingest", did="somebody else takes transcripts in", count=0)
    events = sum(each.events for each in found)
    failed = {path: why for each in found for path, why in each.failures.items()}
    return Done(step="ingest", did=f"took in {counted(events, 'event')}", count=events, failed=failed)


def _flush(hub: Hub, stop: Callable[[], bool]) -> Done:
    made = flushing.flush_these(hub, senses.unflushed(hub), stop)
    told = f"{counted(len(made.entries), 'entry', 'entries')} into {counted(len(made.days), 'daily log')}"
    return Done(
        step="flush", did=f"wrote {told}",
        count=len(made.entries), failed=made.failed, left=made.left,
    )  # fmt: skip


def ripe(hub: Hub) -> list[Row]:
    """Return the sessions a gist is due for, those that spoke last in front."""
    rows = [row for row in exchanges.uncovered(hub.engine) if senses.is_ripe(row, hub.now())]
    return sorted(rows, key=lambda row: -row["last"])


def _gist(hub: Hub, stop: Callable[[], bool]) -> Done:
    thinker, made, failed, due = Thinker(hub), 0, {}, ripe(hub)
    taken = 0
    for row in due:
        if stop():
            break
        taken += 1
        try:
            made += gist.make(hub, row["session_id"], thinker) is not None
        except FATAL:
            raise
        except Exception as problem:  # whatever is wrong with one session, the others are summarized
            failed[row["session_id"]] = reason(problem)
    return Done(
        step="gist", did=f"summarized {counted(made, 'session')}{_by(thinker)}", count=made, failed=failed,
        left=len(due) - taken,
    )  # fmt: skip


def _integrate(hub: Hub, stop: Callable[[], bool]) -> Done:
    made = eras.integrated(hub, stop=stop)
    parts = [f"era {month}" for month in made.eras]
    parts += [name for name in ("profile", "narrative") if getattr(made, name) == "made"]
    return Done(
        step="integrate", did=f"rebuilt {', '.join(parts)}" if parts else "all tiers were up to date",
        count=len(parts), failed=made.failed, left=news.count(hub.engine, news.INTEGRATE),
    )  # fmt: skip


def _compile(hub: Hub, stop: Callable[[], bool]) -> Done:
    try:
        made = compiling.compile_logs(hub, told=_until(stop))
    except OutOfTime:
        return Done(step="compile", did="stopped for time", count=0, left=len(compiling.due_days(hub)))
    except CompileRunning:
        return Done(step="compile", did="somebody else compiles", count=0)
    pages = len(made.created) + len(made.updated) + len(made.removed)
    told = f"{len(made.created)} pages new, {len(made.updated)} changed"
    return Done(
        step="compile", did=f"compiled {len(made.logs)} logs: {told}",
        count=pages, failed=made.failed,
    )  # fmt: skip


def _detect_waits(hub: Hub) -> int:
    """Return the sessions nobody looked through, and what was found in others and not counted: its finder died."""
    return news.count(hub.engine, news.DETECT) + len(patterns.changed(hub.engine))


def _detect(hub: Hub, stop: Callable[[], bool]) -> Done:
    before, known = news.count(hub.engine, news.DETECT), signals.undetected(hub.engine)
    looked, worded = detecting.look_through(hub, stop), detecting.word(hub)
    left = news.count(hub.engine, news.DETECT)
    told = f"{counted(len(looked), 'session')}: {counted(sum(looked), 'signal')}{_worded(worded)}"
    return Done(
        step="detect", did=f"looked through {told}",
        count=before - left + worded, failed=_new(signals.undetected(hub.engine), known), left=left,
    )  # fmt: skip


def _new(failed: dict[str, str], known: dict[str, str]) -> dict[str, str]:
    """Return what failed now and did not before: what lasts is told once."""
    return {name: why for name, why in failed.items() if name not in known}


def _worded(count: int) -> str:
    return f", {count} rules worded" if count else ""


def _lint(hub: Hub, _: Callable[[], bool]) -> Done:
    from engram.llm import allowance

    found = linting.lint(hub, structural_only=allowance.silent() or hub.settings.model in ("", "none"))
    told = ", ".join(f"{number} {name}s" for name, number in found.counts.items() if number) or "nothing wrong"
    return Done(step="lint", did=f"looked at {counted(found.pages, 'page')}: {told}", count=found.pages)


def _rot(hub: Hub, stop: Callable[[], bool]) -> Done:
    found = rot.step(hub, stop)
    return Done(
        step="rot", did=f"compared {counted(found.looked, 'text')}: {found.found} repeat others", count=found.looked,
        failed=found.failed, left=found.left,
    )  # fmt: skip


def _embed_waits(hub: Hub) -> int:
    return segments.backlog(hub.engine) + senses.unembedded(hub) + news.count(hub.engine, news.SCRUB)


def _embed(hub: Hub, stop: Callable[[], bool]) -> Done:
    from engram.index.index import bring_up_to_date

    try:
        made = bring_up_to_date(hub, told=_until(stop), thorough=False)
    except OutOfTime:
        return Done(step="embed", did="stopped for time", count=0, left=segments.backlog(hub.engine))
    return Done(
        step="embed", did=f"indexed {counted(made.indexed, 'text')}, embedded {made.embedded}",
        count=made.indexed + made.embedded,
    )  # fmt: skip


def _evict(hub: Hub, _: Callable[[], bool]) -> Done:
    from engram.digests.retention import evict

    kept = evict(hub, whole=False)
    return Done(step="evict", did=f"freed {kept.freed:,} bytes of bodies", count=kept.freed)


def _by(thinker: Thinker) -> str:
    told = [f"{count} by {name}" for name, count in thinker.by.items() if name.startswith("model:")]
    told += [f"{count} in vain asked of the model: {why}" for why, count in thinker.fallbacks.items()]
    return f" ({', '.join(told)})" if told else ""


def _until(stop: Callable[[], bool]) -> Callable[..., None]:
    """Return a listener to progress that ends the work when somebody says to stop."""

    def told(*_: Any) -> None:
        if stop():
            raise OutOfTime

    return told


STEPS = (
    Step("ingest", CONTINUITY, _ingest_waits, _ingest, always=True),
    Step("flush", CONTINUITY, senses.to_flush, _flush),
    Step("gist", CONTINUITY, lambda hub: len(ripe(hub)), _gist),
    Step("integrate", COHERENCE, lambda hub: news.count(hub.engine, news.INTEGRATE), _integrate),
    Step("compile", COHERENCE, senses.to_compile, _compile),
    Step("detect", CURIOSITY, _detect_waits, _detect),
    Step("reflect", CURIOSITY, lambda hub: news.count(hub.engine, news.REFLECT), reflect.step),
    Step("lint", HYGIENE, senses.to_lint, _lint, all=lambda hub: news.count(hub.engine, news.LINT)),
    Step("rot", HYGIENE, lambda hub: news.count(hub.engine, news.ROT), _rot),
    Step("embed", HYGIENE, _embed_waits, _embed),
    Step("evict", HYGIENE, senses.over_budget, _evict),
)
