"""Show the digest of a session and correct its outcome."""

from __future__ import annotations

from typing import Annotated, Any

from engram.capture.digests.cost import CLASSES, get_session_cost
from engram.capture.digests.rebuild_report import RebuiltDigests
from engram.capture.digests.subagents import add_subagents
from engram.clock import to_datetime
from engram.errors import InvalidInput, NotFound
from engram.hub import Hub
from engram.operation import Help, operation
from engram.platform.text import validate_optional_name
from engram.sessions import lifecycle
from engram.store import activity, captures, digests
from engram.types import OUTCOMES, Digest

_TOKENS = (*CLASSES, "money", "basis", "unpriced")


@operation()
def get_digest(hub: Hub, session_id: Annotated[str, Help("session id or a prefix of it")]) -> Digest:
    """Show the facts of a session: goal, files, commands, errors, tests, commits, outcome."""
    session, capture = _require_capture(hub, session_id)
    row = digests.find_by_capture(hub.engine, capture)
    if row is None:
        raise NotFound(kind="digest of", id=session, hint=_HINT)
    return _digest_from_row(hub, session, row)


@operation(writes=True)
def set_outcome(
    hub: Hub,
    session_id: Annotated[str, Help("session id or a prefix of it")],
    outcome: Annotated[str | None, Help("success, partial, failure, abandoned or unclear; none undoes it")] = None,
    who: Annotated[str | None, Help("who makes the correction")] = None,
) -> Digest:
    """Correct the outcome of a session; the computed outcome is kept beside it."""
    if outcome is not None and outcome not in OUTCOMES:
        raise InvalidInput(field="outcome", reason=f"Unknown value {outcome!r}. Choose one of: {', '.join(OUTCOMES)}.")
    session, capture = _require_capture(hub, session_id)
    with hub.engine.transaction(durable=True):
        row = digests.set_outcome(hub.engine, capture, outcome, validate_optional_name("who", who), hub.now())
        if row is None:
            raise NotFound(kind="digest of", id=session, hint=_HINT)
        activity.record(hub.engine, hub.now(), "corrected", session, session_id=session, project="", outcome=outcome)
    return _digest_from_row(hub, session, row)


@operation(writes=True, agent=False)
def rebuild_digests(hub: Hub) -> RebuiltDigests:
    """Rebuild every digest made by an earlier version's rules, the latest sessions first."""
    from engram.capture.digests.rebuild import rebuild_all  # late: showing a digest needs none of the rules

    return rebuild_all(hub)


_HINT = "Read its transcript with `engram ingest`."


def _require_capture(hub: Hub, session_id: str) -> tuple[str, int]:
    session = lifecycle.get_session(hub, session_id).id
    row = captures.find_by_session(hub.engine, session)
    if row is None:
        raise NotFound(kind="transcript of", id=session, hint=_HINT)
    return session, row["num"]


def _digest_from_row(hub: Hub, session: str, row: dict[str, Any]) -> Digest:
    import json

    cost = get_session_cost(hub, session)
    tokens = {name: getattr(cost, name) for name in _TOKENS} if cost else None
    facts = add_subagents(hub.engine, session, json.loads(row["facts"])) | ({"tokens": tokens} if tokens else {})
    return Digest(
        session_id=session, outcome=row["corrected"] or row["outcome"],
        confidence=1.0 if row["corrected"] else row["confidence"], facts=facts, version=row["version"],
        made_at=to_datetime(row["made_at"]), corrected_by=row["corrected_by"],
        inferred=row["outcome"] if row["corrected"] else None,
    )  # fmt: skip
