"""The catalog: patterns with their rule, evidence, versions, places and effect, as people see them."""

from __future__ import annotations

from engram import plain_json, text
from engram.clock import moment
from engram.coordination import sessions
from engram.errors import InvalidInput, NotFound
from engram.operation import Help, operation
from engram.recall.rules_told import worth
from engram.store import domains, patterns, placements, rules
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Annotated, Any

    from engram.hub import Hub
    from engram.rules.measure import Effect
    from engram.store.engine import Row

STATES = (patterns.CANDIDATE, patterns.APPROVED, patterns.REJECTED, patterns.RETIRED, patterns.MERGED)
_EVIDENCE = 12  # signals that are shown
_MOVES = 8  # that an id is followed through


@value
class Recommendation:
    """What somebody who may not decide advises about a pattern."""

    what: str  # approve, reject, edit, merge or retire
    why: str
    who: str
    at: datetime
    rule: str = ""


@value
class Pattern:
    """Something that keeps going wrong or right, and the rule people made of it."""

    id: str
    kind: str
    state: str
    title: str
    rule: str  # in force, or proposed where nobody wrote one yet
    fix: str
    scope: str
    version: int  # of the rule; 0: nobody wrote one
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
class Rule:
    """One version of a rule: what was decided, by whom and why."""

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
class Evidence:
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
    """Where a version of a rule was put, from when to when."""

    version: int
    flavor: str
    project: str
    place: str
    host: str
    placed_at: datetime
    removed_at: datetime | None


@value
class Dossier:
    """All that is known of a pattern."""

    pattern: Pattern
    evidence: tuple[Evidence, ...]
    versions: tuple[Rule, ...]
    placements: tuple[Placement, ...]
    effect: Effect | None


@operation()
def list_patterns(
    hub: Hub,
    state: Annotated[str | None, Help("only candidate, approved, rejected, retired or merged ones")] = None,
    project: Annotated[str | None, Help("only those seen in this project")] = None,
    flavor: Annotated[str | None, Help("only those seen with this agent")] = None,
    min_frequency: Annotated[int, Help("of what nobody decided about, only what so many sessions show")] = 2,
    limit: Annotated[int, Help("at most so many")] = 50,
    domain: Annotated[str | None, Help("only those seen in projects of this domain")] = None,
) -> list[Pattern]:
    """List patterns: what waits for a decision first, then what was decided, each by its weight."""
    if state is not None and state not in STATES:
        raise InvalidInput(field="state", reason=f"{state!r} is none; there are {', '.join(STATES)}.")
    found = rules.listed(hub.engine, state, sessions.room(project), text.name_or_none("flavor", flavor))
    now, least = hub.now(), sessions.positive("min_frequency", min_frequency)
    listed = [row for row in found if row["state"] in STATES and (row["version"] or row["sessions"] >= least)]
    if domain is not None:
        inside = domains.projects(hub.engine, text.name("domain", domain))
        listed = [row for row in listed if not inside.isdisjoint(plain_json.loads(row["projects"]))]
    listed.sort(key=lambda row: (STATES.index(row["state"]), -_weight(row, now), row["id"]))
    return [view(row) for row in listed[: sessions.positive("limit", limit)]]


@operation()
def get_pattern(
    hub: Hub,
    pattern: Annotated[str, Help("the pattern's id, or its beginning")],
    effect: Annotated[bool, Help("measure whether its rule helped, which takes longer")] = True,
) -> Dossier:
    """Show a pattern with its evidence, every version of its rule, where it was put and whether it helped."""
    from engram.rules.measure import measured

    found = dossier(hub, pattern)
    if not found.placements or not effect:
        return found
    came_to = next(iter(measured(hub, found.pattern.id)), None)
    return Dossier(found.pattern, found.evidence, found.versions, found.placements, came_to)


def dossier(hub: Hub, pattern: str) -> Dossier:
    """Return all that is known of a pattern but its effect."""
    row = require(hub, pattern)
    found = row["id"]
    return Dossier(
        pattern=_whole(hub, row),
        evidence=tuple(_evidence(each) for each in rules.evidence(hub.engine, found, _EVIDENCE)),
        versions=tuple(_rule(each) for each in rules.versions(hub.engine, found)),
        placements=tuple(_placement(each) for each in placements.of_pattern(hub.engine, found)),
        effect=None,
    )


def require(hub: Hub, pattern: str) -> Row:
    """Return the row of the pattern that is meant, or say that there is none or more than one."""
    named = text.name("pattern", pattern)
    row = patterns.get(hub.engine, named)
    if row is None:
        begun = rules.beginning(hub.engine, named)
        if len(begun) > 1:
            raise InvalidInput(
                field="pattern", reason=f"{named!r} begins {begun[0]}, {begun[1]} and maybe more; say more."
            )
        row = patterns.get(hub.engine, begun[0]) if begun else None
    for _ in range(_MOVES):
        if row is not None and row["state"] == patterns.MOVED:
            row = patterns.get(hub.engine, row["merged_into"])
    if row is None:
        raise NotFound(kind="pattern", id=named, hint="See `engram patterns list`.")
    return row


def shown(hub: Hub, pattern: str) -> Pattern:
    """Return a pattern as it stands now."""
    return _whole(hub, require(hub, pattern))


def view(row: Row) -> Pattern:
    """Turn a stored pattern with its current rule into the value users see."""
    return Pattern(
        id=row["id"], kind=row["kind"], state=row["state"], title=row["title"],
        rule=row["rule"] or row["proposed"] or row["title"], fix=row["fix"] if row["rule"] else row["proposed_fix"],
        scope=row["scope"] or "global", version=row["version"], sessions=row["sessions"], times=row["times"],
        flavors=tuple(plain_json.loads(row["flavors"])), projects=tuple(plain_json.loads(row["projects"])),
        tokens=row["tokens"], seconds=row["seconds"], confidence=row["confidence"],
        first_at=moment(row["first_at"]), last_at=moment(row["last_at"]), merged_into=row["merged_into"],
        recommended=_recommendation(row["recommended"]),
    )  # fmt: skip


def _whole(hub: Hub, row: Row) -> Pattern:
    current = rules.version(hub.engine, row["id"], row["version"])
    return view({**row, **{name: current[name] if current else "" for name in ("rule", "fix", "scope")}})


def _weight(row: Row, now: int) -> float:
    """Return how far up a pattern is listed: a candidate as detect ranks it, a rule as it is told."""
    from engram.patterns.rank import score

    return score({**row, "here": row["sessions"]}, now) if row["state"] == patterns.CANDIDATE else worth(row, now)


def _recommendation(stored: str | None) -> Recommendation | None:
    if not stored:
        return None
    said = plain_json.loads(stored)
    return Recommendation(**{**said, "at": moment(said["at"])})


def _rule(row: Row) -> Rule:
    return Rule(
        version=row["version"], state=row["state"], rule=row["rule"], fix=row["fix"], scope=row["scope"],
        author=row["author"], reason=row["reason"], evidence=tuple(plain_json.loads(row["evidence"])),
        at=moment(row["at"]),
    )  # fmt: skip


def _evidence(row: Row) -> Evidence:
    return Evidence(
        session_id=row["session_id"], flavor=row["flavor"], project=row["project"], at=moment(row["at"]),
        text=row["text"], quote=row["quote"], fix=row["fix"], times=row["times"],
        events=tuple(plain_json.loads(row["evidence"])),
    )  # fmt: skip


def _placement(row: Row) -> Placement:
    removed = row["removed_at"]
    return Placement(
        version=row["version"], flavor=row["flavor"], project=row["project"], place=row["place"], host=row["host"],
        placed_at=moment(row["placed_at"]), removed_at=None if removed is None else moment(removed),
    )  # fmt: skip
