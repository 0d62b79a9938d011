"""Senses: what the drives are built from, read off the store in a few short looks. Each grows with what is new."""

from __future__ import annotations

from engram.capture import spool
from engram.clock import HOUR, MINUTE
from engram.compiler import compile as compiling
from engram.dream import drives, novelty
from engram.dream.drives import COHERENCE, CONTINUITY, CURIOSITY, HYGIENE, STABILITY, Count, Drive
from engram.hub import Hub
from engram.memory.gist import RIPE
from engram.memory.self_state import get_self_state
from engram.store import blobs, entries, exchanges, news, passages, segments
from engram.vault import vault, writes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Row

SETTLED = HOUR  # a session silent for so long is summarized as it is
_LINT = 20  # changed pages that press with 0.5; fewer wait for a week to pass
_WEEK = 7 * 24 * HOUR


def sense(hub: Hub) -> dict[str, Drive]:
    """Return every drive as it stands now."""
    found = {name: drive(hub, name) for name in drives.WORKING}
    return found | {STABILITY: drives.stability(found)}


def drive(hub: Hub, name: str) -> Drive:
    """Return one drive as it stands now; one that cannot be sensed makes nothing due, and nobody calm."""
    settings = hub.settings
    try:
        counts = _COUNTS[name](hub)
    except OSError as problem:
        why = f"it cannot be sensed: {problem}"
        return Drive(name=name, level=1.0, pressure=0.0, threshold=1.0, since=None, why=why)
    return drives.built(
        name, counts, held(hub).get(name), hub.now(), getattr(settings, f"{name}_threshold") / 100,
        settings.dream_patience_hours,
    )  # fmt: skip


def held(hub: Hub) -> dict[str, dict[str, object]]:
    """Return the drives as the self state holds them."""
    state = get_self_state(hub)
    found = state.get("drives") if isinstance(state, dict) else None
    return (
        {str(name): each for name, each in found.items() if isinstance(each, dict)} if isinstance(found, dict) else {}
    )


def continuity(hub: Hub) -> tuple[Count, ...]:
    """Return what is not taken in, not flushed, not summarized."""
    rows = exchanges.uncovered(hub.engine)
    ripe = [row for row in rows if is_ripe(row, hub.now())]
    return (
        Count(len(spool.waiting(hub.settings.home)), 2, "request in the spool", "requests in the spool"),
        Count(to_flush(hub), 3, "session to flush", "sessions to flush"),
        Count(len(ripe), 1, "ripe session", "ripe sessions"),
        Count(sum(int(row["open"]) for row in rows), 40, "new turn", "new turns"),
    )


def coherence(hub: Hub) -> tuple[Count, ...]:
    """Return what is made of sources that changed."""
    return (
        Count(news.count(hub.engine, news.INTEGRATE), 2, "gist in no era", "gists in no era"),
        Count(to_compile(hub), 1, "log to compile", "logs to compile"),
    )


def curiosity(hub: Hub) -> tuple[Count, ...]:
    """Return what is new since the last reflection."""
    found = novelty.since_reflection(hub)
    return (
        Count(found.projects, 1, "new project", "new projects"),
        Count(found.errors, 3, "new error", "new errors"),
        Count(found.surprises, 2, "surprising outcome", "surprising outcomes"),
        Count(len(found.rows), 10, "session not reflected on", "sessions not reflected on"),
        Count(len(found.seen) - len(found.rows), 400, "older session taken in", "older sessions taken in"),
    )


def hygiene(hub: Hub) -> tuple[Count, ...]:
    """Return what is not indexed, not looked through for duplicates, not linted, and beyond the budget."""
    return (
        Count(segments.backlog(hub.engine) + unembedded(hub), 2000, "text to index", "texts to index"),
        Count(news.count(hub.engine, news.SCRUB), 1, "deletion to finish", "deletions to finish"),
        Count(news.count(hub.engine, news.ROT), 20, "text to compare", "texts to compare"),
        Count(to_lint(hub), _LINT, "page to lint", "pages to lint"),
        Count(over_budget(hub), 0.5, "part of a budget overdrawn", "parts of a budget overdrawn"),
    )


def is_ripe(row: Row, now: int) -> bool:
    """Tell whether a session is worth a gist: never summarized, with much that is new, or silent since."""
    return bool(not row["known"] or row["open"] >= RIPE or row["last_at"] <= now - SETTLED)


def unflushed(hub: Hub) -> list[Row]:
    """Return the sessions with something to flush that nobody is at work in."""
    quiet = hub.now() - hub.settings.stale_minutes * MINUTE
    due = entries.due(hub.engine, hub.now())
    return [row for row in due if row["status"] == "completed" or row["last_heartbeat"] < quiet]


def to_flush(hub: Hub) -> int:
    """Count the sessions with something to flush, and the entries that no log got since their writer died."""
    return len(unflushed(hub)) + len(entries.unwritten(hub.engine))


def to_compile(hub: Hub) -> int:
    """Count the logs to compile; writes that a compiler left behind when it died are one more."""
    return len(compiling.due_days(hub)) + writes.is_unfinished(vault.of(hub))


def to_lint(hub: Hub) -> int:
    """Count the pages that changed since the last lint, once they are enough for a look at all of them."""
    waiting = news.waiting(hub.engine, news.LINT)
    if not waiting:
        return 0
    many = max(_LINT, len(passages.known(hub.engine, "article")) // 10)
    return len(waiting) if len(waiting) >= many or hub.now() - waiting[0]["at"] >= _WEEK else 0


def stale(hub: Hub) -> list[tuple[str, str, str]]:
    """Return the gists whose session went on, and did not say enough yet for another."""
    return [("gist", row["session_id"], "exchanges") for row in exchanges.uncovered(hub.engine) if row["known"]]


def unembedded(hub: Hub) -> int:
    """Count the texts that no vector stands for."""
    if hub.settings.embedder == "none":
        return 0
    left = {row["id"]: int(row["count"]) for row in segments.overview(hub.engine)}
    for space in segments.spaces(hub.engine):
        for row in segments.coverage(hub.engine, space["id"]):
            left[row["id"]] = min(left.get(row["id"], 0), int(row["count"]) - int(row["through"]))
    return sum(left.values())


def over_budget(hub: Hub) -> int:
    """Tell whether the bodies are beyond their budget, or somebody died while dropping some."""
    beyond = blobs.usage(hub.engine) > hub.settings.raw_soft_cap_bytes
    return int(beyond or bool(blobs.half_evicted(hub.engine)))


_COUNTS = {CONTINUITY: continuity, COHERENCE: coherence, CURIOSITY: curiosity, HYGIENE: hygiene}
