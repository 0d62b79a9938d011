"""The steps of a pass, in causal order. Each is small, resumes where it stopped, and stops when time is up."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from engram.capture import spool, worker
from engram.dream import probes, reflect, rot
from engram.dream.priorities import COHERENCE, CONTINUITY, CURIOSITY, HYGIENE
from engram.dream.results import StepResult
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
from engram.patterns import detect
from engram.platform.text import format_count, format_error
from engram.platform.value import value
from engram.store import dream_inbox, exchanges, index_segments, patterns, signals
from engram.summaries import eras, gist, upgrade
from engram.summaries.summary_model import SummaryModel
from engram.wiki import flush, lint
from engram.wiki.compiler import compile as compiler

if TYPE_CHECKING:
    from engram.store.engine import Row


@value
class DreamStep:
    """One unit of work."""

    name: str
    drive: str
    count_waiting: Callable[[Hub], int]  # returns the backlog
    run: Callable[[Hub, Callable[[], bool]], StepResult]  # runs until told to stop
    always: bool = False  # due as soon as there is work, whatever the drive
    count_forced: Callable[[Hub], int] | None = None  # returns the backlog when forced


# No other piece of work would do better.
FATAL = (StoreBusy, StoreFull, StoreUnavailable, StoreDamaged, DreamRunning)


class OutOfTime(Exception):
    """Raised when time is up; the work continues next time."""


def _count_ingest(hub: Hub) -> int:
    return len(spool.list_waiting(hub.settings.home)) + worker.is_full_look_due(hub)


def _run_ingest(hub: Hub, _: Callable[[], bool]) -> StepResult:
    try:
        reports = worker.ingest_pending(hub)
    except SweepRunning:
        return StepResult(step="ingest", did="another process is ingesting", count=0)
    events = sum(report.events for report in reports)
    failed = {path: why for report in reports for path, why in report.failures.items()}
    return StepResult(step="ingest", did=f"ingested {format_count(events, 'event')}", count=events, failed=failed)


def _run_flush(hub: Hub, stop: Callable[[], bool]) -> StepResult:
    report = flush.flush_sessions(hub, probes.list_unflushed(hub), stop)
    summary = (
        f"{format_count(len(report.entries), 'entry', 'entries')} into {format_count(len(report.days), 'daily log')}"
    )
    return StepResult(
        step="flush", did=f"wrote {summary}",
        count=len(report.entries), failed=report.failed, left=report.left,
    )  # fmt: skip


def list_ripe(hub: Hub) -> list[Row]:
    """Return the sessions due for a gist, the most recent first."""
    rows = [row for row in exchanges.list_uncovered(hub.engine) if probes.is_ripe(row, hub.now())]
    return sorted(rows, key=lambda row: -row["last"])


def _run_gist(hub: Hub, stop: Callable[[], bool]) -> StepResult:
    model, written, failed, due = SummaryModel(hub), 0, {}, list_ripe(hub)
    tried = 0
    for row in due:
        if stop():
            break
        tried += 1
        try:
            written += gist.make_gist(hub, row["session_id"], model) is not None
        except FATAL:
            raise
        except Exception as problem:  # a failing session does not stop the others
            failed[row["session_id"]] = format_error(problem)
    rewritten = upgrade.rewrite_gists(hub, model, stop) if tried == len(due) else 0
    more = f", rewrote {format_count(rewritten, 'older summary', 'older summaries')}" if rewritten else ""
    return StepResult(
        step="gist",
        did=f"summarized {format_count(written, 'session')}{more}{_format_makers(model)}",
        count=written + rewritten,
        failed=failed,
        left=len(due) - tried,
    )


def _count_gists(hub: Hub) -> int:
    """Count the sessions to summarize, and the summaries that a model should rewrite in a pass."""
    return len(list_ripe(hub)) + min(len(upgrade.list_upgradable(hub)), upgrade.PER_PASS)


def _run_integrate(hub: Hub, stop: Callable[[], bool]) -> StepResult:
    report = eras.run_integration(hub, stop=stop)
    parts = [f"era {month}" for month in report.eras]
    parts += [name for name in ("profile", "narrative") if getattr(report, name) == "made"]
    return StepResult(
        step="integrate", did=f"rebuilt {', '.join(parts)}" if parts else "everything was up to date",
        count=len(parts), failed=report.failed, left=dream_inbox.count_waiting(hub.engine, dream_inbox.INTEGRATE),
    )  # fmt: skip


def _run_compile(hub: Hub, stop: Callable[[], bool]) -> StepResult:
    try:
        report = compiler.compile_logs(hub, report_progress=_build_stop_listener(stop))
    except OutOfTime:
        return StepResult(step="compile", did="stopped: out of time", count=0, left=compiler.count_due(hub))
    except CompileRunning:
        return StepResult(step="compile", did="another process is compiling", count=0)
    pages = len(report.created) + len(report.updated) + len(report.removed)
    removed = f", {len(report.removed)} removed" if report.removed else ""
    summary = f"{format_count(len(report.created), 'page')} new, {len(report.updated)} changed{removed}"
    return StepResult(
        step="compile", did=f"compiled {_format_compiled(report)}: {summary}",
        count=pages, failed=report.failed,
    )  # fmt: skip


def _format_compiled(report: compiler.CompileResult) -> str:
    counts = ((len(report.projects), "project"), (len(report.logs), "log"))
    return " and ".join(format_count(number, word) for number, word in counts if number) or "nothing"


def _count_detect(hub: Hub) -> int:
    """Return the number of unscanned sessions, and of fingerprints whose scan was interrupted before they were
    counted.
    """
    return dream_inbox.count_waiting(hub.engine, dream_inbox.DETECT) + len(
        patterns.list_changed_fingerprints(hub.engine)
    )


def _run_detect(hub: Hub, stop: Callable[[], bool]) -> StepResult:
    before, already_failed = (
        dream_inbox.count_waiting(hub.engine, dream_inbox.DETECT),
        signals.list_failures(hub.engine),
    )
    signal_counts, worded = detect.scan_sessions(hub, stop), detect.word_candidates(hub)
    left = dream_inbox.count_waiting(hub.engine, dream_inbox.DETECT)
    summary = f"{format_count(len(signal_counts), 'session')}: {format_count(sum(signal_counts), 'signal')}"
    return StepResult(
        step="detect",
        did=f"scanned {summary}{_format_worded(worded)}",
        count=before - left + worded,
        failed=_find_new_failures(signals.list_failures(hub.engine), already_failed),
        left=left,
    )


def _find_new_failures(failed: dict[str, str], already_failed: dict[str, str]) -> dict[str, str]:
    """Return the failures that are new: a lasting one is reported once."""
    return {name: why for name, why in failed.items() if name not in already_failed}


def _format_worded(count: int) -> str:
    return f", {format_count(count, 'rule')} worded" if count else ""


def _run_lint(hub: Hub, _: Callable[[], bool]) -> StepResult:
    from engram.models import call_budget

    report = lint.lint(hub, structural_only=call_budget.is_silent() or hub.settings.model in ("", "none"))
    summary = ", ".join(format_count(number, name) for name, number in report.counts.items() if number) or "no problems"
    return StepResult(step="lint", did=f"checked {format_count(report.pages, 'page')}: {summary}", count=report.pages)


def _run_rot(hub: Hub, stop: Callable[[], bool]) -> StepResult:
    report = rot.inspect_inbox(hub, stop)
    return StepResult(
        step="rot",
        did=f"compared {format_count(report.looked, 'text')}: {report.found} duplicates",
        count=report.looked,
        failed=report.failed,
        left=report.left,
    )


def _count_embed(hub: Hub) -> int:
    return (
        index_segments.count_queued(hub.engine)
        + probes.count_unembedded(hub)
        + dream_inbox.count_waiting(hub.engine, dream_inbox.SCRUB)
    )


def _run_embed(hub: Hub, stop: Callable[[], bool]) -> StepResult:
    from engram.index.maintenance import update_index

    try:
        report = update_index(hub, progress=_build_stop_listener(stop), thorough=False)
    except OutOfTime:
        return StepResult(
            step="embed", did="stopped: out of time", count=0, left=index_segments.count_queued(hub.engine)
        )
    return StepResult(
        step="embed", did=f"indexed {format_count(report.indexed, 'text')}, embedded {report.embedded}",
        count=report.indexed + report.embedded,
    )  # fmt: skip


def _run_evict(hub: Hub, _: Callable[[], bool]) -> StepResult:
    from engram.capture.digests.retention import evict

    retention = evict(hub, whole=False)
    return StepResult(step="evict", did=f"freed {retention.freed:,} bytes", count=retention.freed)


def _format_makers(model: SummaryModel) -> str:
    parts = [f"{count} by {name}" for name, count in model.by.items() if name.startswith("model:")]
    parts += [f"{count} failed model calls: {why}" for why, count in model.fallbacks.items()]
    return f" ({', '.join(parts)})" if parts else ""


def _build_stop_listener(stop: Callable[[], bool]) -> Callable[..., None]:
    """Return a progress listener that stops the work when `stop` returns true."""

    def listener(*_: Any) -> None:
        if stop():
            raise OutOfTime

    return listener


STEPS = (
    DreamStep("ingest", CONTINUITY, _count_ingest, _run_ingest, always=True),
    DreamStep("flush", CONTINUITY, probes.count_to_flush, _run_flush),
    DreamStep("gist", CONTINUITY, _count_gists, _run_gist),
    DreamStep(
        "integrate", COHERENCE, lambda hub: dream_inbox.count_waiting(hub.engine, dream_inbox.INTEGRATE), _run_integrate
    ),
    DreamStep("compile", COHERENCE, probes.count_to_compile, _run_compile),
    DreamStep("detect", CURIOSITY, _count_detect, _run_detect),
    DreamStep(
        "reflect",
        CURIOSITY,
        lambda hub: dream_inbox.count_waiting(hub.engine, dream_inbox.REFLECT),
        reflect.run_reflection,
    ),
    DreamStep(
        "lint",
        HYGIENE,
        probes.count_to_lint,
        _run_lint,
        count_forced=lambda hub: dream_inbox.count_waiting(hub.engine, dream_inbox.LINT),
    ),
    DreamStep("rot", HYGIENE, lambda hub: dream_inbox.count_waiting(hub.engine, dream_inbox.ROT), _run_rot),
    DreamStep("embed", HYGIENE, _count_embed, _run_embed),
    DreamStep("evict", HYGIENE, probes.count_over_budget, _run_evict),
)
