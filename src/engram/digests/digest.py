"""The digest of a session as people and agents ask for it, and their word on its outcome."""

from __future__ import annotations

from typing import Annotated, Any

from engram.clock import moment
from engram.coordination import sessions
from engram.digests.cost import of_session
from engram.errors import InvalidInput, NotFound
from engram.hub import Hub
from engram.model import Digest
from engram.operation import Help, operation
from engram.store import activity, captures, digests
from engram.text import name_or_none

_TOKENS = ("input", "output", "cache_read", "cache_write", "money", "basis")
OUTCOMES = ("success", "partial", "failure", "abandoned", "unclear")


@operation()
def get_digest(hub: Hub, session_id: Annotated[str, Help("the session, or the beginning of its id")]) -> Digest:
    """Show what a session came to: goal, files, commands, errors, tests, commits, outcome."""
    session, capture = _captured(hub, session_id)
    row = digests.of_capture(hub.engine, capture)
    if row is None:
        raise NotFound(kind="digest of", id=session, hint=_HINT)
    return _view(hub, session, row)


@operation(writes=True)
def set_outcome(
    hub: Hub,
    session_id: Annotated[str, Help("the session, or the beginning of its id")],
    outcome: Annotated[str | None, Help("success, partial, failure, abandoned or unclear; none takes it back")] = None,
    who: Annotated[str | None, Help("who says so")] = None,
) -> Digest:
    """Correct how a session ended; the rules' own finding is kept beside it."""
    if outcome is not None and outcome not in OUTCOMES:
        raise InvalidInput(field="outcome", reason=f"{outcome!r} is none of {', '.join(OUTCOMES)}.")
    session, capture = _captured(hub, session_id)
    with hub.engine.transaction(durable=True):
        row = digests.correct(hub.engine, capture, outcome, name_or_none("who", who), hub.now())
        if row is None:
            raise NotFound(kind="digest of", id=session, hint=_HINT)
        activity.record(hub.engine, hub.now(), "corrected", session, session_id=session, project="", outcome=outcome)
    return _view(hub, session, row)


_HINT = "Take its transcript in with `engram ingest`."


def _captured(hub: Hub, session_id: str) -> tuple[str, int]:
    session = sessions.get_session(hub, session_id).id
    row = captures.of_session(hub.engine, session)
    if row is None:
        raise NotFound(kind="transcript of", id=session, hint=_HINT)
    return session, row["num"]


def _view(hub: Hub, session: str, row: dict[str, Any]) -> Digest:
    import json

    spent = of_session(hub, session)
    tokens = {name: getattr(spent, name) for name in _TOKENS} if spent else None
    facts = json.loads(row["facts"]) | ({"tokens": tokens} if tokens else {})
    return Digest(
        session_id=session, outcome=row["corrected"] or row["outcome"],
        confidence=1.0 if row["corrected"] else row["confidence"], facts=facts, version=row["version"],
        made_at=moment(row["made_at"]), corrected_by=row["corrected_by"],
        inferred=row["outcome"] if row["corrected"] else None,
    )  # fmt: skip
