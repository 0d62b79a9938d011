"""Probes: read from the store what the drives are built from. Their cost grows with what is new."""

from __future__ import annotations

from engram.capture import spool
from engram.clock import HOUR, MINUTE
from engram.dream import novelty, priorities
from engram.dream.priorities import COHERENCE, CONTINUITY, CURIOSITY, HYGIENE, STABILITY, Drive, PressureCount
from engram.hub import Hub
from engram.store import blobs, dream_inbox, exchanges, index_segments, log_entries, passages
from engram.summaries import upgrade
from engram.summaries.gist import RIPE
from engram.summaries.self_state import get_self_state
from engram.wiki.compiler import compile as compiler
from engram.wiki.vault import vault, write_batch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Row

SETTLED = HOUR  # a session idle for this long is summarized as it is
_LINT = 20  # changed pages that give a pressure of 0.5; fewer wait for a week
_WEEK = 7 * 24 * HOUR


def sense_drives(hub: Hub) -> dict[str, Drive]:
    """Return the current state of every drive."""
    sensed = {name: sense_drive(hub, name) for name in priorities.WORKING}
    return sensed | {STABILITY: priorities.build_stability(sensed)}


def sense_drive(hub: Hub, name: str) -> Drive:
    """Return the current state of one drive; a failing probe counts as neither due nor done."""
    settings = hub.settings
    try:
        counts = _COUNTS[name](hub)
    except OSError as problem:
        why = f"cannot be measured: {problem}"
        return Drive(name=name, level=1.0, pressure=0.0, threshold=1.0, since=None, why=why)
    return priorities.build_drive(
        name, counts, get_saved_drives(hub).get(name), hub.now(), getattr(settings, f"{name}_threshold") / 100,
        settings.dream_patience_hours,
    )  # fmt: skip


def get_saved_drives(hub: Hub) -> dict[str, dict[str, object]]:
    """Return the drives stored in the self state."""
    state = get_self_state(hub)
    saved = state.get("drives") if isinstance(state, dict) else None
    return (
        {str(name): drive for name, drive in saved.items() if isinstance(drive, dict)}
        if isinstance(saved, dict)
        else {}
    )


def count_continuity(hub: Hub) -> tuple[PressureCount, ...]:
    """Count what is not ingested, flushed or summarized."""
    rows = exchanges.list_uncovered(hub.engine)
    ripe = [row for row in rows if is_ripe(row, hub.now())]
    return (
        PressureCount(len(spool.list_waiting(hub.settings.home)), 2, "queued capture", "queued captures"),
        PressureCount(count_to_flush(hub), 3, "session to flush", "sessions to flush"),
        PressureCount(len(ripe), 1, "session to summarize", "sessions to summarize"),
        PressureCount(sum(int(row["open"]) for row in rows), 40, "new turn", "new turns"),
        PressureCount(len(upgrade.list_upgradable(hub)), 3, "summary to rewrite", "summaries to rewrite"),
    )


def count_coherence(hub: Hub) -> tuple[PressureCount, ...]:
    """Count documents whose sources changed."""
    return (
        PressureCount(
            dream_inbox.count_waiting(hub.engine, dream_inbox.INTEGRATE),
            2,
            "summary to integrate",
            "summaries to integrate",
        ),
        PressureCount(count_to_compile(hub), 1, "log or project to compile", "logs and projects to compile"),
    )


def count_curiosity(hub: Hub) -> tuple[PressureCount, ...]:
    """Count what is new since the last reflection."""
    recent = novelty.find_novelty(hub)
    return (
        PressureCount(recent.projects, 1, "new project", "new projects"),
        PressureCount(recent.errors, 3, "new error", "new errors"),
        PressureCount(recent.surprises, 2, "surprising outcome", "surprising outcomes"),
        PressureCount(len(recent.rows), 10, "session not reflected on", "sessions not reflected on"),
        PressureCount(len(recent.seen) - len(recent.rows), 400, "older session ingested", "older sessions ingested"),
    )


def count_hygiene(hub: Hub) -> tuple[PressureCount, ...]:
    """Count what is not indexed, compared or linted, and what is over budget."""
    return (
        PressureCount(
            index_segments.count_queued(hub.engine) + count_unembedded(hub), 2000, "text to index", "texts to index"
        ),
        PressureCount(
            dream_inbox.count_waiting(hub.engine, dream_inbox.SCRUB), 1, "deletion to finish", "deletions to finish"
        ),
        PressureCount(
            dream_inbox.count_waiting(hub.engine, dream_inbox.ROT), 20, "text to compare", "texts to compare"
        ),
        PressureCount(count_to_lint(hub), _LINT, "page to lint", "pages to lint"),
        PressureCount(count_over_budget(hub), 0.5, "storage budget exceeded", "storage budgets exceeded"),
    )


def is_ripe(row: Row, now: int) -> bool:
    """Check whether a session needs a gist: never summarized, with many new turns, or idle since."""
    return bool(not row["known"] or row["open"] >= RIPE or row["last_at"] <= now - SETTLED)


def list_unflushed(hub: Hub) -> list[Row]:
    """Return idle sessions with something to flush."""
    quiet = hub.now() - hub.settings.stale_minutes * MINUTE
    due = log_entries.list_due_sessions(hub.engine, hub.now())
    return [row for row in due if row["status"] == "completed" or row["last_heartbeat"] < quiet]


def count_to_flush(hub: Hub) -> int:
    """Count the sessions to flush, and the entries whose writer died before they reached a log."""
    return len(list_unflushed(hub)) + len(log_entries.list_unwritten(hub.engine))


def count_to_compile(hub: Hub) -> int:
    """Count the projects and logs to compile; unfinished writes of a compiler that died count as one more."""
    return compiler.count_due(hub) + write_batch.has_journal(vault.open_vault(hub))


def count_to_lint(hub: Hub) -> int:
    """Count the pages changed since the last lint, once they are enough to justify a full check."""
    waiting = dream_inbox.list_waiting(hub.engine, dream_inbox.LINT)
    if not waiting:
        return 0
    enough = max(_LINT, len(passages.list_documents(hub.engine, "article")) // 10)
    return len(waiting) if len(waiting) >= enough or hub.now() - waiting[0]["at"] >= _WEEK else 0


def list_stale_gists(hub: Hub) -> list[tuple[str, str, str]]:
    """Return the gists whose session went on, but not enough for a new one."""
    return [("gist", row["session_id"], "exchanges") for row in exchanges.list_uncovered(hub.engine) if row["known"]]


def count_unembedded(hub: Hub) -> int:
    """Count the texts without a vector."""
    if hub.settings.embedder == "none":
        return 0
    missing = {row["id"]: int(row["count"]) for row in index_segments.list_segments(hub.engine)}
    for space in index_segments.list_spaces(hub.engine):
        for row in index_segments.list_coverage(hub.engine, space["id"]):
            missing[row["id"]] = min(missing.get(row["id"], 0), int(row["count"]) - int(row["through"]))
    return sum(missing.values())


def count_over_budget(hub: Hub) -> int:
    """Check whether the bodies exceed their budget, or an eviction was interrupted."""
    beyond = blobs.get_kept_bytes(hub.engine) > hub.settings.raw_soft_cap_bytes
    return int(beyond or bool(blobs.list_half_evicted(hub.engine)))


_COUNTS = {CONTINUITY: count_continuity, COHERENCE: count_coherence, CURIOSITY: count_curiosity, HYGIENE: count_hygiene}
