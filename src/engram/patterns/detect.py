"""Detect: scan new sessions and propose recurring patterns as candidates for rules."""

from __future__ import annotations

from typing import Annotated, Any

from engram.clock import MINUTE
from engram.errors import StoreBusy, StoreFull, StoreUnavailable
from engram.hub import Hub
from engram.operation import Help, operation
from engram.patterns.candidate import Candidate, DetectResult
from engram.platform.text import to_one_line
from engram.platform.value import value
from engram.sessions import lifecycle
from engram.store import dream_inbox, patterns, signals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engram.patterns.signal import Signal
    from engram.patterns.steps import SessionTrace
    from engram.store.engine import Row

MOST = 15  # candidates shown at once
_QUIET_TIME = 30 * MINUTE  # a session idle for this long counts as over
_MAX_TRIES = 3
_MAX_WORDED = 5  # rules worded by a model per run


@value
class CandidateFilter:
    """Which candidates are listed."""

    min_sessions: int = 2
    project: str | None = None
    since: int | None = None
    statistics: bool = False  # also what merely happens


@operation(writes=True)
def detect(
    hub: Hub,
    min_frequency: Annotated[int, Help("only patterns seen in at least this many sessions")] = 2,
    project: Annotated[str | None, Help("only sessions in this project")] = None,
    since: Annotated[str | None, Help("start time such as 7d, 12h, 2026-11-01 or last week")] = None,
    limit: Annotated[int, Help("maximum number of candidates")] = MOST,
    statistics: Annotated[bool, Help("also list what merely happens, such as interruptions")] = False,
) -> DetectResult:
    """Scan new sessions and rank what a person could make a rule of."""
    from engram.search.recall import parse_asking_time, parse_time_bound

    min_sessions, max_candidates = (
        lifecycle.require_positive("min_frequency", min_frequency),
        lifecycle.require_positive("limit", limit),
    )
    project_filter, start = (
        lifecycle.parse_project_filter(project),
        parse_time_bound("since", since, parse_asking_time(hub, None)),
    )
    signal_counts = scan_sessions(hub)
    narrowed = CandidateFilter(min_sessions, project_filter, start, statistics)
    best_candidates, more = find_candidates(hub, narrowed, max_candidates)
    worded, failed = _word_rules(hub, best_candidates), signals.list_failures(hub.engine)
    waiting = [row["key"] for row in dream_inbox.list_waiting(hub.engine, dream_inbox.DETECT)]
    return DetectResult(
        sessions=len(signal_counts),
        signals=sum(signal_counts),
        candidates=tuple(find_candidates(hub, narrowed, max_candidates)[0] if worded else best_candidates),
        more=more,
        open=sum(1 for session_id in waiting if session_id not in failed),
        failed=failed,
        worded=worded,
    )


def scan_sessions(hub: Hub, stop: Callable[[], bool] = lambda: False) -> list[int]:
    """Scan new sessions until `stop` returns true; return the number of signals of each."""
    from engram.patterns.resolve import repair_counts

    signal_counts = []
    for row in dream_inbox.list_waiting(hub.engine, dream_inbox.DETECT):
        if stop():
            break
        signal_count = _try_session(hub, row)
        signal_counts += [] if signal_count is None else [signal_count]
    repair_counts(hub)
    return signal_counts


def word_candidates(hub: Hub) -> int:
    """Let a model word the best candidates, if one is configured; return how many it worded."""
    return _word_rules(hub, find_candidates(hub, CandidateFilter(), MOST)[0])


def _try_session(hub: Hub, row: Row) -> int | None:
    """Scan one session; record a failure instead of stopping the run."""
    try:
        return scan_session(hub, row)
    except (StoreBusy, StoreFull, StoreUnavailable):
        raise  # the session is not at fault
    except Exception as problem:
        problem_text = to_one_line(f"{type(problem).__name__}: {problem}", 300)
        with hub.engine.transaction():
            if signals.record_failure(hub.engine, row["key"], problem_text, hub.now()) >= _MAX_TRIES:
                dream_inbox.mark_done(hub.engine, dream_inbox.DETECT, row)
        return None


def scan_session(hub: Hub, row: Row) -> int:
    """Replace the signals of a session and update its patterns in one transaction."""
    from engram.patterns.signals import detect_signals
    from engram.patterns.steps import load_trace

    trace = load_trace(hub, row["key"])
    is_over = trace is None or trace.last_at < hub.now() - _QUIET_TIME
    found_signals = detect_signals(trace, is_over=is_over) if trace else []
    vectors = _embed_fingerprints(hub, found_signals)
    with hub.engine.transaction():
        patterns.lock_patterns(hub.engine)  # otherwise a concurrent update would count this as done
        if trace:
            rows = [_signal_row(trace, item) for item in found_signals]
            touched = signals.replace_signals(hub.engine, trace.session, rows, keep=not trace.is_complete)
            patterns.mark_changed(hub.engine, [_fingerprint_row(kind, item, vectors) for kind, item in sorted(touched)])
            signals.clear_failure(hub.engine, trace.session)
        if is_over:
            dream_inbox.mark_done(hub.engine, dream_inbox.DETECT, row)
    return len(found_signals)


def _embed_fingerprints(hub: Hub, found_signals: Sequence[Signal]) -> dict[tuple[str, str], bytes]:
    """Embed the fingerprints that are words."""
    from engram.models import embedder
    from engram.patterns.cluster import BY_MEANING, quantize_vectors

    worded_signals = [signal for signal in found_signals if signal.kind in BY_MEANING]
    if not worded_signals or embedder.get_embedder_name(hub.settings) == embedder.OFF:
        return {}
    model = embedder.load_embedder(embedder.STATIC, hub.settings)
    codes = quantize_vectors(model.embed([signal.fingerprint for signal in worded_signals]))
    return {(signal.kind, signal.fingerprint): code for signal, code in zip(worded_signals, codes, strict=True)}


def _fingerprint_row(kind: str, fingerprint: str, vectors: dict[tuple[str, str], bytes]) -> dict[str, Any]:
    from engram.patterns.fingerprint import pattern_id
    from engram.patterns.fix_wording import find_seed

    seed = find_seed(fingerprint) if kind == "known-fix" else fingerprint
    return {
        "kind": kind, "fingerprint": fingerprint, "pattern": pattern_id(kind, seed),
        "vector": vectors.get((kind, fingerprint)),
    }  # fmt: skip


def _signal_row(trace: SessionTrace, signal: Signal) -> dict[str, Any]:
    import json

    return {
        "session_id": trace.session, "project": trace.project, "flavor": trace.flavor,
        **{name: getattr(signal, name) for name in ("kind", "fingerprint", "text", "quote", "fix", "times", "at")},
        "evidence": json.dumps(signal.evidence), "tokens": signal.tokens, "seconds": signal.seconds,
    }  # fmt: skip


def find_candidates(hub: Hub, narrowed: CandidateFilter, limit: int) -> tuple[list[Candidate], int]:
    """Return the best candidates, and how many more there are."""
    from engram.patterns.queue import choose_candidates
    from engram.patterns.rank import build_candidate, rank_patterns

    rows = patterns.list_frequent(hub.engine, narrowed.min_sessions, narrowed.project, narrowed.since)
    with_signals = [row for row in rank_patterns(rows, hub.now()) if row["signals"]]
    chosen, signals_by_pattern, more = choose_candidates(hub, with_signals, limit, statistics=narrowed.statistics)
    return [build_candidate(row, signals_by_pattern[row["id"]], also) for row, also in chosen], more


def _word_rules(hub: Hub, best_candidates: Sequence[Candidate]) -> int:
    """Let a model word the best candidates it has not worded yet, if one is configured; return how many it worded."""
    from engram.patterns.fingerprint import sanitize_line
    from engram.summaries.summary_model import SummaryModel

    thinker, worded_count = SummaryModel(hub), 0
    for best in [best for best in best_candidates if not best.worded_by.startswith("model:")][:_MAX_WORDED]:
        thought = thinker.ask("pattern", _format_candidate(best), prose="rule", lists=("fix",))
        if thought is not None:
            rule, fix = sanitize_line(thought.data["rule"], 400), sanitize_line("; ".join(thought.data["fix"]), 400)
            with hub.engine.transaction():
                patterns.save_proposal(hub.engine, best.id, rule, fix, thought.made_by)
            worded_count += 1
    return worded_count


def _format_candidate(candidate: Candidate) -> str:
    """Format a candidate for the model's prompt."""
    lines = [
        f"kind: {candidate.kind}",
        f"what: {candidate.title}",
        f"seen in {candidate.sessions} sessions, {candidate.times} times",
        f"agents: {', '.join(candidate.flavors)}",
        f"what worked: {candidate.fix or 'not known'}",
        "quotes:",
    ]
    return "\n".join([*lines, *(f"- {piece.quote}" for piece in candidate.evidence)])
