"""Decisions about patterns. Each is a new version of the rule, by somebody and for a reason; nothing is lost.

Only a person decides: what an agent may do is recommend.
"""

from __future__ import annotations

from engram import plain_json, text
from engram.errors import Conflict, InvalidInput, NotFound, Undecidable
from engram.operation import Help, operation
from engram.rules import catalog, told
from engram.rules.catalog import Pattern
from engram.rules.rule_text import fix_text, rule_text
from engram.rules.scope import scope_of
from engram.store import patterns, rules
from engram.store.patterns import APPROVED, CANDIDATE, MERGED, REJECTED, RETIRED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated, Any

    from engram.hub import Hub
    from engram.store.engine import Row

_AS_IT_IS = ""  # the state of a pattern whose words alone change
ADVICE = ("approve", "reject", "edit", "merge", "retire")
_SHOWN = 3  # pieces of evidence a decision names
# From which states each decision leads, and the way out of the others.
_FROM = {
    APPROVED: ((CANDIDATE, APPROVED), "Take it back first: `engram patterns restore {id}`."),
    REJECTED: ((CANDIDATE,), "An approved one is retired: `engram patterns retire {id}`."),
    RETIRED: ((APPROVED,), "Only what is approved can be retired; reject a candidate."),
    MERGED: ((CANDIDATE, APPROVED), "Take it back first: `engram patterns restore {id}`."),
    CANDIDATE: ((APPROVED, REJECTED, RETIRED, MERGED), "Nobody decided about it yet."),
}


@operation(writes=True, agent=False)
def approve_pattern(
    hub: Hub,
    pattern: Annotated[str, Help("the pattern's id, or its beginning")],
    rule: Annotated[str | None, Help("what agents are told, in one to five lines; else what is proposed")] = None,
    fix: Annotated[str | None, Help("what to do instead; else what is proposed, if the rule is too")] = None,
    scope: Annotated[str | None, Help("global, project:PATH or flavor:NAME; global if nothing was said")] = None,
    author: Annotated[str | None, Help("who decides; without, you")] = None,
    reason: Annotated[str, Help("why")] = "",
    expected_version: Annotated[int | None, Help("refuse if the rule's version is another")] = None,
) -> Pattern:
    """Approve a pattern: from now on agents are told its rule, in every place it is distributed to."""
    given = {"rule": rule, "fix": fix, "scope": scope}
    return _decided(hub, pattern, APPROVED, author, reason, expected_version, given)


@operation(writes=True, agent=False)
def reject_pattern(
    hub: Hub,
    pattern: Annotated[str, Help("the pattern's id, or its beginning")],
    reason: Annotated[str, Help("why")] = "",
    author: Annotated[str | None, Help("who decides; without, you")] = None,
    expected_version: Annotated[int | None, Help("refuse if the rule's version is another")] = None,
) -> Pattern:
    """Reject a candidate: it stays known, so that it is not proposed again."""
    return _decided(hub, pattern, REJECTED, author, reason, expected_version, {})


@operation(writes=True, agent=False)
def edit_pattern(
    hub: Hub,
    pattern: Annotated[str, Help("the pattern's id, or its beginning")],
    rule: Annotated[str | None, Help("what agents are told, in one to five lines; else as it was")] = None,
    fix: Annotated[str | None, Help("what to do instead; else as it was")] = None,
    scope: Annotated[str | None, Help("global, project:PATH or flavor:NAME; else as it was")] = None,
    author: Annotated[str | None, Help("who decides; without, you")] = None,
    reason: Annotated[str, Help("why")] = "",
    expected_version: Annotated[int | None, Help("refuse if the rule's version is another")] = None,
) -> Pattern:
    """Change the rule of a candidate or of an approved pattern; the versions before stay."""
    given = {"rule": rule, "fix": fix, "scope": scope}
    return _decided(hub, pattern, _AS_IT_IS, author, reason, expected_version, given)


@operation(writes=True, agent=False)
def restore_rule(
    hub: Hub,
    pattern: Annotated[str, Help("the pattern's id, or its beginning")],
    version: Annotated[int, Help("the version of its rule, as get_pattern numbers them")],
    author: Annotated[str | None, Help("who decides; without, you")] = None,
) -> Pattern:
    """Let a rule say again what an older version said, as a new version; the pattern's state stays."""
    found = catalog.require(hub, pattern)["id"]
    row = rules.version(hub.engine, found, version)
    if row is None:
        hint = f"`engram patterns show {found} --history` lists them."
        raise NotFound(kind=f"version of the rule {found}", id=str(version), hint=hint)
    given = {name: row[name] for name in ("rule", "fix", "scope")}
    return _decided(hub, found, _AS_IT_IS, author, f"version {version} restored", None, given)


@operation(writes=True, agent=False)
def retire_pattern(
    hub: Hub,
    pattern: Annotated[str, Help("the pattern's id, or its beginning")],
    reason: Annotated[str, Help("why")] = "",
    author: Annotated[str | None, Help("who decides; without, you")] = None,
    expected_version: Annotated[int | None, Help("refuse if the rule's version is another")] = None,
) -> Pattern:
    """Retire an approved pattern: no session is told it any more; the next distribute takes it out of files."""
    return _decided(hub, pattern, RETIRED, author, reason, expected_version, {})


@operation(writes=True, agent=False)
def restore_pattern(
    hub: Hub,
    pattern: Annotated[str, Help("the pattern's id, or its beginning")],
    reason: Annotated[str, Help("why")] = "",
    author: Annotated[str | None, Help("who decides; without, you")] = None,
    expected_version: Annotated[int | None, Help("refuse if the rule's version is another")] = None,
) -> Pattern:
    """Take back that a pattern was approved, rejected, retired or merged: it is again what it was before."""
    with hub.engine.transaction(durable=True):
        patterns.hold(hub.engine)
        row = catalog.require(hub, pattern)
        _require_version(hub, row, expected_version)
        _allowed(row, CANDIDATE, "restored")
        last = rules.version(hub.engine, row["id"], row["version"])
        if row["state"] == MERGED and last:
            moved = plain_json.loads(last["evidence"])
            rules.move_back(hub.engine, row["id"], row["merged_into"], moved)
            rules.recount(hub.engine, [row["id"], row["merged_into"]])
        _write(hub, row, _before(hub, row), author, reason or "restored", {})
    return catalog.shown(hub, row["id"])


@operation(writes=True, agent=False)
def merge_patterns(
    hub: Hub,
    into: Annotated[str, Help("the pattern that stays")],
    others: Annotated[list[str], Help("the patterns that are the same")],
    author: Annotated[str | None, Help("who decides; without, you")] = None,
    reason: Annotated[str, Help("why")] = "",
) -> Pattern:
    """Merge patterns that are one: their evidence counts for the one that stays; `restore` takes it back."""
    with hub.engine.transaction(durable=True):
        patterns.hold(hub.engine)
        kept = catalog.require(hub, into)
        _allowed(kept, MERGED, "merged")
        found = {row["id"]: row for row in (catalog.require(hub, each) for each in others)}
        if not found or kept["id"] in found:
            raise InvalidInput(field="others", reason="name the patterns that go into the other one.")
        for row in found.values():
            _allowed(row, MERGED, "merged")
            moved = rules.move_fingerprints(hub.engine, row["id"], kept["id"])
            why = reason or f"the same as {kept['id']}"
            _write(hub, row, MERGED, author, why, {}, evidence=moved, merged_into=kept["id"])
        _write(hub, kept, kept["state"], author, reason or f"took in {', '.join(found)}", {})
        rules.recount(hub.engine, [kept["id"], *found])
    return catalog.shown(hub, kept["id"])


@operation(writes=True)
def recommend_pattern(
    hub: Hub,
    pattern: Annotated[str, Help("the pattern's id, or its beginning")],
    what: Annotated[str, Help("approve, reject, edit, merge or retire")],
    why: Annotated[str, Help("what speaks for it")],
    rule: Annotated[str, Help("how the rule should read, for approve or edit")] = "",
    who: Annotated[str | None, Help("the session or program that advises")] = None,
) -> Pattern:
    """Advise what to do about a pattern; a person decides."""
    if what not in ADVICE:
        raise InvalidInput(field="what", reason=f"{what!r} is none; there are {', '.join(ADVICE)}.")
    row = catalog.require(hub, pattern)
    said = {
        "what": what, "why": text.one_line(text.required("why", why, "Say what speaks for it."), 500),
        "who": text.name_or_none("who", who) or "somebody", "at": hub.now(),
        "rule": rule_text(hub, rule) if rule else "",
    }  # fmt: skip
    with hub.engine.transaction(durable=True):
        rules.recommend(hub.engine, row["id"], plain_json.dumps(said))
    return catalog.shown(hub, row["id"])


def require_version(hub: Hub, pattern: str, expected: int) -> None:
    """Refuse if somebody decided about a pattern since a version of its rule."""
    _require_version(hub, catalog.require(hub, pattern), expected)


def _require_version(hub: Hub, row: Row, expected: int | None) -> None:
    if expected is not None and expected != row["version"]:
        _refuse(hub, row, expected)


def _decided(
    hub: Hub, pattern: str, state: str, author: str | None, reason: str, expected: int | None, given: dict[str, Any]
) -> Pattern:
    with hub.engine.transaction(durable=True):
        patterns.hold(hub.engine)
        row = catalog.require(hub, pattern)
        _require_version(hub, row, expected)
        if state == _AS_IT_IS:
            _allowed(row, APPROVED, "edited")
        elif state != row["state"] or state == APPROVED:
            _allowed(row, state, state)
        _write(hub, row, state or row["state"], author, reason, given)
    return catalog.shown(hub, row["id"])


def _write(
    hub: Hub, row: Row, state: str, author: str | None, reason: str, given: dict[str, Any], *,
    evidence: list[Any] | None = None, merged_into: str | None = None,
) -> None:  # fmt: skip
    """Write a decision down: what is not given stays as it was, or as it was proposed."""
    facts = _said(hub, row, given, state)
    known = [] if evidence is not None else rules.evidence(hub.engine, row["id"], _SHOWN)
    named = evidence if evidence is not None else [{"session": e["session_id"], "times": e["times"]} for e in known]
    added = rules.decide(
        hub.engine, row, merged_into, **facts, state=state, author=_author(author),
        reason=text.one_line(text.clean("reason", reason), 500), evidence=plain_json.dumps(named), now=hub.now(),
    )  # fmt: skip
    if not added:
        _refuse(hub, row, row["version"])
    told.follow(hub, row["id"])


def _said(hub: Hub, row: Row, given: dict[str, Any], state: str) -> dict[str, str]:
    """Return rule, fix and scope of the version to come; only what agents will be told has to be fit for that."""
    current = rules.version(hub.engine, row["id"], row["version"])
    # Who words the rule has not agreed to a fix that came out of a transcript.
    fix = row["proposed_fix"] if given.get("rule") is None else ""
    before = current or {"rule": row["proposed"] or row["title"], "fix": fix, "scope": "global"}
    said = {name: before[name] if given.get(name) is None else given[name] for name in ("rule", "fix", "scope")}
    if state != APPROVED and not given:
        return said
    return {
        "rule": rule_text(hub, said["rule"]), "fix": fix_text(hub, said["fix"]), "scope": scope_of(hub, said["scope"]),
    }  # fmt: skip


def _allowed(row: Row, wanted: str, word: str) -> None:
    states, hint = _FROM[wanted]
    if row["state"] not in states:
        raise Undecidable(pattern=row["id"], state=row["state"], wanted=word, hint=hint.format(id=row["id"]))


def _before(hub: Hub, row: Row) -> str:
    """Return what a pattern was before its state was decided."""
    if row["state"] == APPROVED:
        return CANDIDATE
    found = [each for each in rules.versions(hub.engine, row["id"]) if each["state"] in (CANDIDATE, APPROVED)]
    return str(found[-1]["state"]) if found else CANDIDATE


def _refuse(hub: Hub, row: Row, expected: int) -> None:
    now = patterns.get(hub.engine, row["id"]) or row
    current = rules.version(hub.engine, row["id"], now["version"])
    by = current["author"] if current else "nobody"
    raise Conflict(document=f"The rule of {row['id']}", version=now["version"], expected=expected, by=by)


def _author(given: str | None) -> str:
    """Return who decides: named, or the user of this machine."""
    if given:
        return text.name("author", given)
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "somebody"
