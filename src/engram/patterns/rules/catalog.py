"""The catalog: patterns with their rule, evidence, versions, placements and effect."""

from __future__ import annotations

from engram.clock import to_datetime
from engram.errors import InvalidInput, NotFound
from engram.operation import Help, operation
from engram.patterns.detect import MOST
from engram.patterns.rules.scope import suggest_scope
from engram.platform import plain_json, text
from engram.platform.value import value
from engram.search.briefing_rules import score_rule
from engram.sessions import lifecycle as sessions
from engram.store import domains, patterns, rules
from engram.store import rule_placements as placements

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Annotated, Any

    from engram.hub import Hub
    from engram.patterns.rules.effect import Effect
    from engram.store.engine import Row

STATES = (patterns.CANDIDATE, patterns.APPROVED, patterns.REJECTED, patterns.RETIRED, patterns.MERGED)
_MAX_EVIDENCE = 12  # signals shown
_MAX_MOVES = 8  # maximum redirects followed from an id


@value
class Recommendation:
    """A recommendation about a pattern from an agent, which may not decide."""

    what: str  # approve, reject, edit, merge or retire
    why: str
    who: str
    at: datetime
    rule: str = ""


@value
class Pattern:
    """A recurring problem or success, and the rule made from it."""

    id: str
    kind: str
    state: str
    title: str
    rule: str  # the approved rule, or the proposed one
    fix: str
    scope: str
    version: int  # version of the rule; 0 if nobody wrote one
    sessions: int
    times: int
    flavors: tuple[str, ...]
    projects: tuple[str, ...]
    tokens: int
    seconds: int
    confidence: float
    first_at: datetime
    last_at: datetime
    merged_into: str | None
    recommended: Recommendation | None


@value
class RuleVersion:
    """One version of a rule: the decision, its author and reason."""

    version: int
    state: str
    rule: str
    fix: str
    scope: str
    author: str
    reason: str
    evidence: tuple[Any, ...]
    at: datetime


@value
class PatternEvidence:
    """One signal behind a pattern."""

    session_id: str
    flavor: str
    project: str
    at: datetime
    text: str
    quote: str
    fix: str
    times: int
    events: tuple[Any, ...]


@value
class Placement:
    """Where a version of a rule was placed, and from when to when."""

    version: int
    flavor: str
    project: str
    place: str
    host: str
    placed_at: datetime
    removed_at: datetime | None


@value
class Dossier:
    """Everything known about a pattern."""

    pattern: Pattern
    evidence: tuple[PatternEvidence, ...]
    versions: tuple[RuleVersion, ...]
    placements: tuple[Placement, ...]
    effect: Effect | None


@operation(choices=lambda: {"state": STATES})
def list_patterns(
    hub: Hub,
    state: Annotated[
        str | None, Help("only patterns in this state: candidate, approved, rejected, retired or merged")
    ] = None,
    project: Annotated[str | None, Help("only patterns seen in this project")] = None,
    flavor: Annotated[str | None, Help("only patterns seen with this agent")] = None,
    min_frequency: Annotated[int, Help("only candidates seen in at least this many sessions")] = 2,
    limit: Annotated[int, Help("maximum number of patterns")] = 50,
    domain: Annotated[str | None, Help("only patterns seen in projects of this domain")] = None,
    statistics: Annotated[bool, Help("also list what merely happens, such as interruptions")] = False,
) -> list[Pattern]:
    """List patterns: the candidates a person could make a rule of first, then decided ones, each by importance."""
    if state is not None and state not in STATES:
        raise InvalidInput(field="state", reason=f"Unknown value {state!r}. Choose one of: {', '.join(STATES)}.")
    stored_rows = rules.list_patterns(
        hub.engine, state, sessions.parse_project_filter(project), text.validate_optional_name("flavor", flavor)
    )
    now, min_sessions = hub.now(), sessions.require_positive("min_frequency", min_frequency)
    rows_shown = [
        row for row in stored_rows if row["state"] in STATES and (row["version"] or _is_frequent(row, min_sessions))
    ]
    if domain is not None:
        domain_projects = domains.list_projects(hub.engine, text.validate_name("domain", domain))
        rows_shown = [row for row in rows_shown if not domain_projects.isdisjoint(plain_json.loads(row["projects"]))]
    rows_shown.sort(key=lambda row: (STATES.index(row["state"]), -_rank_weight(row, now), row["id"]))
    if not statistics:
        rows_shown = _keep_queue(hub, rows_shown)
    return [pattern_from_row(row) for row in rows_shown[: sessions.require_positive("limit", limit)]]


def _is_frequent(row: Row, min_sessions: int) -> bool:
    return bool(row["sessions"] >= min_sessions or row["kind"] == patterns.STATED)


def _keep_queue(hub: Hub, rows: list[Row]) -> list[Row]:
    """Return sorted patterns with only those candidates that are in the queue."""
    from engram.patterns.queue import choose_candidates

    waiting = [row for row in rows if row["state"] == patterns.CANDIDATE]
    chosen = choose_candidates(hub, waiting, MOST)[0] if waiting else []
    return [*(row for row, _ in chosen), *(row for row in rows if row["state"] != patterns.CANDIDATE)]


@operation()
def get_pattern(
    hub: Hub,
    pattern: Annotated[str, Help("pattern id or a prefix of it")],
    effect: Annotated[bool, Help("also measure whether its rule helped (slower)")] = True,
) -> Dossier:
    """Show a pattern with its evidence, the versions of its rule, its placements and its effect."""
    from engram.patterns.rules.trial import measure_effects

    dossier_found = load_dossier(hub, pattern)
    if not dossier_found.placements or not effect:
        return dossier_found
    effect_found = next(iter(measure_effects(hub, dossier_found.pattern.id)), None)
    return Dossier(
        dossier_found.pattern, dossier_found.evidence, dossier_found.versions, dossier_found.placements, effect_found
    )


def load_dossier(hub: Hub, pattern: str) -> Dossier:
    """Return everything known about a pattern except its effect."""
    row = require_pattern(hub, pattern)
    pattern_id = row["id"]
    return Dossier(
        pattern=_load_with_rule(hub, row),
        evidence=tuple(
            _evidence_from_row(stored_row) for stored_row in rules.list_signals(hub.engine, pattern_id, _MAX_EVIDENCE)
        ),
        versions=tuple(_rule_from_row(stored_row) for stored_row in rules.list_versions(hub.engine, pattern_id)),
        placements=tuple(
            _placement_from_row(stored_row) for stored_row in placements.list_by_pattern(hub.engine, pattern_id)
        ),
        effect=None,
    )


def require_pattern(hub: Hub, pattern: str) -> Row:
    """Return the row of a pattern by id or prefix; raise an error if none or several match."""
    given_id = text.validate_name("pattern", pattern)
    row = patterns.get(hub.engine, given_id)
    if row is None:
        matching_ids = rules.list_ids_by_prefix(hub.engine, given_id)
        if len(matching_ids) > 1:
            raise InvalidInput(
                field="pattern",
                reason=f"{given_id!r} matches {matching_ids[0]}, {matching_ids[1]} and maybe more. Use a longer one.",
            )
        row = patterns.get(hub.engine, matching_ids[0]) if matching_ids else None
    for _ in range(_MAX_MOVES):
        if row is not None and row["state"] == patterns.MOVED:
            row = patterns.get(hub.engine, row["merged_into"])
    if row is None:
        raise NotFound(kind="pattern", id=given_id, hint="List them with `engram patterns list`.")
    return row


def load_pattern(hub: Hub, pattern: str) -> Pattern:
    """Return the current state of a pattern."""
    return _load_with_rule(hub, require_pattern(hub, pattern))


def pattern_from_row(row: Row) -> Pattern:
    """Convert a stored pattern with its current rule."""
    projects = tuple(plain_json.loads(row["projects"]))
    return Pattern(
        id=row["id"], kind=row["kind"], state=row["state"], title=row["title"],
        rule=row["rule"] or row["proposed"] or row["title"], fix=row["fix"] if row["rule"] else row["proposed_fix"],
        scope=row["scope"] or suggest_scope(projects), version=row["version"], sessions=row["sessions"],
        times=row["times"], flavors=tuple(plain_json.loads(row["flavors"])), projects=projects,
        tokens=row["tokens"], seconds=row["seconds"], confidence=row["confidence"],
        first_at=to_datetime(row["first_at"]), last_at=to_datetime(row["last_at"]), merged_into=row["merged_into"],
        recommended=_parse_recommendation(row["recommended"]),
    )  # fmt: skip


def _load_with_rule(hub: Hub, row: Row) -> Pattern:
    current = rules.get_version(hub.engine, row["id"], row["version"])
    return pattern_from_row({**row, **{name: current[name] if current else "" for name in ("rule", "fix", "scope")}})


def _rank_weight(row: Row, now: int) -> float:
    """Return the sort weight of a pattern: as `detect` ranks candidates, or as the briefing ranks rules."""
    from engram.patterns.rank import score_pattern

    return (
        score_pattern({**row, "here": row["sessions"]}, now)
        if row["state"] == patterns.CANDIDATE
        else score_rule(row, now)
    )


def _parse_recommendation(stored: str | None) -> Recommendation | None:
    if not stored:
        return None
    recommendation = plain_json.loads(stored)
    return Recommendation(**{**recommendation, "at": to_datetime(recommendation["at"])})


def _rule_from_row(row: Row) -> RuleVersion:
    return RuleVersion(
        version=row["version"], state=row["state"], rule=row["rule"], fix=row["fix"], scope=row["scope"],
        author=row["author"], reason=row["reason"], evidence=tuple(plain_json.loads(row["evidence"])),
        at=to_datetime(row["at"]),
    )  # fmt: skip


def _evidence_from_row(row: Row) -> PatternEvidence:
    return PatternEvidence(
        session_id=row["session_id"], flavor=row["flavor"], project=row["project"], at=to_datetime(row["at"]),
        text=row["text"], quote=row["quote"], fix=row["fix"], times=row["times"],
        events=tuple(plain_json.loads(row["evidence"])),
    )  # fmt: skip


def _placement_from_row(row: Row) -> Placement:
    removed = row["removed_at"]
    return Placement(
        version=row["version"], flavor=row["flavor"], project=row["project"], place=row["place"], host=row["host"],
        placed_at=to_datetime(row["placed_at"]), removed_at=None if removed is None else to_datetime(removed),
    )  # fmt: skip
