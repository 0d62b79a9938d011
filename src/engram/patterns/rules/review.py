"""Decisions about patterns. Each is a new version of the rule, with an author and a reason; nothing is lost.

Only a person decides; an agent can recommend.
"""

from __future__ import annotations

from engram.errors import Conflict, InvalidInput, NoVersion, Undecidable
from engram.operation import Help, operation
from engram.patterns.rules import catalog, context_rules
from engram.patterns.rules.catalog import Pattern
from engram.patterns.rules.rule_text import clean_fix, clean_rule
from engram.patterns.rules.scope import parse_scope, suggest_scope
from engram.platform import plain_json, text
from engram.store import patterns, rules
from engram.store.patterns import APPROVED, CANDIDATE, MERGED, REJECTED, RETIRED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated, Any

    from engram.hub import Hub
    from engram.store.engine import Row

_UNCHANGED_STATE = ""  # keep the state and change only the wording
ADVICE = ("approve", "reject", "edit", "merge", "retire")
_MAX_EVIDENCE = 3  # pieces of evidence recorded with a decision
# The states each decision is allowed from, and a hint for the others.
_TRANSITIONS = {
    APPROVED: ((CANDIDATE, APPROVED), "Restore it first: `engram patterns restore {id}`."),
    REJECTED: ((CANDIDATE,), "If it is approved, retire it: `engram patterns retire {id}`."),
    RETIRED: ((APPROVED,), "Only approved patterns can be retired; reject a candidate instead."),
    MERGED: ((CANDIDATE, APPROVED), "Restore it first: `engram patterns restore {id}`."),
    CANDIDATE: ((APPROVED, REJECTED, RETIRED, MERGED), "There is no decision to undo yet."),
}


@operation(writes=True, agent=False)
def approve_pattern(
    hub: Hub,
    pattern: Annotated[str, Help("pattern id or a prefix of it")],
    rule: Annotated[str | None, Help("rule text for agents, one to five lines; defaults to the proposed rule")] = None,
    fix: Annotated[
        str | None, Help("what to do instead; defaults to the proposed fix if the rule is the proposed one")
    ] = None,
    scope: Annotated[
        str | None,
        Help("global, project:PATH or flavor:NAME; defaults to the only project its evidence is from, else global"),
    ] = None,
    author: Annotated[str | None, Help("who decides; defaults to you")] = None,
    reason: Annotated[str, Help("reason")] = "",
    expected_version: Annotated[int | None, Help("fail if the rule is not at this version")] = None,
) -> Pattern:
    """Approve a pattern: from now on agents read its rule, in every place it is distributed to."""
    changes = {"rule": rule, "fix": fix, "scope": scope}
    return _decide(hub, pattern, APPROVED, author, reason, expected_version, changes)


@operation(writes=True, agent=False)
def reject_pattern(
    hub: Hub,
    pattern: Annotated[str, Help("pattern id or a prefix of it")],
    reason: Annotated[str, Help("reason")] = "",
    author: Annotated[str | None, Help("who decides; defaults to you")] = None,
    expected_version: Annotated[int | None, Help("fail if the rule is not at this version")] = None,
) -> Pattern:
    """Reject a candidate: it is remembered, so that it is not proposed again."""
    return _decide(hub, pattern, REJECTED, author, reason, expected_version, {})


@operation(writes=True, agent=False)
def edit_pattern(
    hub: Hub,
    pattern: Annotated[str, Help("pattern id or a prefix of it")],
    rule: Annotated[str | None, Help("new rule text, one to five lines; unchanged if omitted")] = None,
    fix: Annotated[str | None, Help("what to do instead; unchanged if omitted")] = None,
    scope: Annotated[
        str | None, Help("where it applies: global, project:PATH or flavor:NAME; unchanged if omitted")
    ] = None,
    author: Annotated[str | None, Help("who decides; defaults to you")] = None,
    reason: Annotated[str, Help("reason")] = "",
    expected_version: Annotated[int | None, Help("fail if the rule is not at this version")] = None,
) -> Pattern:
    """Change the rule of a candidate or an approved pattern; earlier versions are kept."""
    changes = {"rule": rule, "fix": fix, "scope": scope}
    return _decide(hub, pattern, _UNCHANGED_STATE, author, reason, expected_version, changes)


@operation(writes=True, agent=False)
def restore_rule(
    hub: Hub,
    pattern: Annotated[str, Help("pattern id or a prefix of it")],
    version: Annotated[int, Help("version of the rule to restore, as shown by get_pattern")],
    author: Annotated[str | None, Help("who decides; defaults to you")] = None,
) -> Pattern:
    """Restore an older version of a rule as a new version; the pattern's state does not change."""
    pattern_id = catalog.require_pattern(hub, pattern)["id"]
    row = rules.get_version(hub.engine, pattern_id, version)
    if row is None:
        hint = f"`engram patterns show {pattern_id} --history` lists the versions."
        raise NoVersion(kind=f"The rule {pattern_id}", id=str(version), hint=hint)
    changes = {name: row[name] for name in ("rule", "fix", "scope")}
    return _decide(hub, pattern_id, _UNCHANGED_STATE, author, f"version {version} restored", None, changes)


@operation(writes=True, agent=False)
def retire_pattern(
    hub: Hub,
    pattern: Annotated[str, Help("pattern id or a prefix of it")],
    reason: Annotated[str, Help("reason")] = "",
    author: Annotated[str | None, Help("who decides; defaults to you")] = None,
    expected_version: Annotated[int | None, Help("fail if the rule is not at this version")] = None,
) -> Pattern:
    """Retire an approved pattern: new sessions no longer get its rule; the next distribute removes it from files."""
    return _decide(hub, pattern, RETIRED, author, reason, expected_version, {})


@operation(writes=True, agent=False)
def restore_pattern(
    hub: Hub,
    pattern: Annotated[str, Help("pattern id or a prefix of it")],
    reason: Annotated[str, Help("reason")] = "",
    author: Annotated[str | None, Help("who decides; defaults to you")] = None,
    expected_version: Annotated[int | None, Help("fail if the rule is not at this version")] = None,
) -> Pattern:
    """Undo the last decision about a pattern (approve, reject, retire or merge)."""
    with hub.engine.transaction(durable=True):
        patterns.lock_patterns(hub.engine)
        row = catalog.require_pattern(hub, pattern)
        _require_version(hub, row, expected_version)
        _require_state(row, CANDIDATE, "restored")
        last = rules.get_version(hub.engine, row["id"], row["version"])
        if row["state"] == MERGED and last:
            moved = plain_json.loads(last["evidence"])
            rules.move_fingerprints_back(hub.engine, row["id"], row["merged_into"], moved)
            rules.recount_patterns(hub.engine, [row["id"], row["merged_into"]])
        _write_decision(hub, row, _find_previous_state(hub, row), author, reason or "restored", {})
    return catalog.load_pattern(hub, row["id"])


@operation(writes=True, agent=False)
def merge_patterns(
    hub: Hub,
    into: Annotated[str, Help("the pattern to keep")],
    others: Annotated[list[str], Help("the patterns to merge into it")],
    author: Annotated[str | None, Help("who decides; defaults to you")] = None,
    reason: Annotated[str, Help("reason")] = "",
) -> Pattern:
    """Merge duplicate patterns: their evidence counts for the one that stays. `restore` undoes it."""
    with hub.engine.transaction(durable=True):
        patterns.lock_patterns(hub.engine)
        kept_row = catalog.require_pattern(hub, into)
        _require_state(kept_row, MERGED, "merged")
        merged_rows = {row["id"]: row for row in (catalog.require_pattern(hub, other) for other in others)}
        if not merged_rows or kept_row["id"] in merged_rows:
            raise InvalidInput(field="others", reason="Name the patterns to merge into it.")
        for row in merged_rows.values():
            _require_state(row, MERGED, "merged")
            moved = rules.move_fingerprints(hub.engine, row["id"], kept_row["id"])
            why = reason or f"the same as {kept_row['id']}"
            _write_decision(hub, row, MERGED, author, why, {}, evidence=moved, merged_into=kept_row["id"])
        _write_decision(
            hub, kept_row, kept_row["state"], author, reason or f"merged {', '.join(merged_rows)} into it", {}
        )
        rules.recount_patterns(hub.engine, [kept_row["id"], *merged_rows])
    return catalog.load_pattern(hub, kept_row["id"])


@operation(writes=True, choices=lambda: {"what": ADVICE})
def recommend_pattern(
    hub: Hub,
    pattern: Annotated[str, Help("pattern id or a prefix of it")],
    what: Annotated[str, Help("what to do: approve, reject, edit, merge or retire")],
    why: Annotated[str, Help("why you recommend it")],
    rule: Annotated[str, Help("proposed rule text, for approve or edit")] = "",
    who: Annotated[str | None, Help("the session or program that recommends it")] = None,
) -> Pattern:
    """Recommend what to do about a pattern; a person decides."""
    if what not in ADVICE:
        raise InvalidInput(field="what", reason=f"Unknown value {what!r}. Choose one of: {', '.join(ADVICE)}.")
    row = catalog.require_pattern(hub, pattern)
    recommendation = {
        "what": what, "why": text.to_one_line(text.require_text("why", why, "Say why you recommend it."), 500),
        "who": text.validate_optional_name("who", who) or "somebody", "at": hub.now(),
        "rule": clean_rule(hub, rule) if rule else "",
    }  # fmt: skip
    with hub.engine.transaction(durable=True):
        rules.save_recommendation(hub.engine, row["id"], plain_json.dumps(recommendation))
    return catalog.load_pattern(hub, row["id"])


def require_version(hub: Hub, pattern: str, expected: int) -> None:
    """Raise Conflict if the rule of a pattern is not at the expected version."""
    _require_version(hub, catalog.require_pattern(hub, pattern), expected)


def _require_version(hub: Hub, row: Row, expected: int | None) -> None:
    if expected is not None and expected != row["version"]:
        _raise_conflict(hub, row, expected)


def _decide(
    hub: Hub, pattern: str, state: str, author: str | None, reason: str, expected: int | None, changes: dict[str, Any]
) -> Pattern:
    with hub.engine.transaction(durable=True):
        patterns.lock_patterns(hub.engine)
        row = catalog.require_pattern(hub, pattern)
        _require_version(hub, row, expected)
        if state == _UNCHANGED_STATE:
            _require_state(row, APPROVED, "edited")
        elif state != row["state"] or state == APPROVED:
            _require_state(row, state, state)
        _write_decision(hub, row, state or row["state"], author, reason, changes)
    return catalog.load_pattern(hub, row["id"])


def _write_decision(
    hub: Hub, row: Row, state: str, author: str | None, reason: str, changes: dict[str, Any], *,
    evidence: list[Any] | None = None, merged_into: str | None = None,
) -> None:  # fmt: skip
    """Write a decision; values not given keep their current or proposed text."""
    facts = _build_version(hub, row, changes, state)
    evidence_rows = [] if evidence is not None else rules.list_signals(hub.engine, row["id"], _MAX_EVIDENCE)
    evidence_named = (
        evidence if evidence is not None else [{"session": e["session_id"], "times": e["times"]} for e in evidence_rows]
    )
    added = rules.add_decision(
        hub.engine,
        row,
        merged_into,
        **facts,
        state=state,
        author=_resolve_author(author),
        reason=text.to_one_line(text.validate_text("reason", reason), 500),
        evidence=plain_json.dumps(evidence_named),
        now=hub.now(),
    )
    if not added:
        _raise_conflict(hub, row, row["version"])
    context_rules.update_context(hub, row["id"])


def _build_version(hub: Hub, row: Row, changes: dict[str, Any], state: str) -> dict[str, str]:
    """Build rule, fix and scope of the next version; check only texts that agents will read."""
    current = rules.get_version(hub.engine, row["id"], row["version"])
    # A person who words the rule has not agreed to a fix taken from a transcript.
    fix = row["proposed_fix"] if changes.get("rule") is None else ""
    scope = suggest_scope(plain_json.loads(row["projects"]))
    before = current or {"rule": row["proposed"] or row["title"], "fix": fix, "scope": scope}
    version_text = {
        name: before[name] if changes.get(name) is None else changes[name] for name in ("rule", "fix", "scope")
    }
    if state != APPROVED and not changes:
        return version_text
    return {
        "rule": clean_rule(hub, version_text["rule"]),
        "fix": clean_fix(hub, version_text["fix"]),
        "scope": parse_scope(hub, version_text["scope"]),
    }


def _require_state(row: Row, new_state: str, word: str) -> None:
    states, hint = _TRANSITIONS[new_state]
    if row["state"] not in states:
        raise Undecidable(pattern=row["id"], state=row["state"], wanted=word, hint=hint.format(id=row["id"]))


def _find_previous_state(hub: Hub, row: Row) -> str:
    """Return the state of a pattern before the last decision."""
    if row["state"] == APPROVED:
        return CANDIDATE
    earlier_versions = [
        rule_version
        for rule_version in rules.list_versions(hub.engine, row["id"])
        if rule_version["state"] in (CANDIDATE, APPROVED)
    ]
    return str(earlier_versions[-1]["state"]) if earlier_versions else CANDIDATE


def _raise_conflict(hub: Hub, row: Row, expected: int) -> None:
    now = patterns.get(hub.engine, row["id"]) or row
    current = rules.get_version(hub.engine, row["id"], now["version"])
    by = current["author"] if current else "nobody"
    raise Conflict(document=f"The rule of {row['id']}", version=now["version"], expected=expected, by=by)


def _resolve_author(author_name: str | None) -> str:
    """Return the author: the given one, or the user of this machine."""
    if author_name:
        return text.validate_name("author", author_name)
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "somebody"
