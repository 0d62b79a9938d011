"""Errors in the store: saved with the digest, and closed by later sessions of their project."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import orjson

from engram.evidence import same_work
from engram.store import captures, command_runs, session_errors, sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engram.store.engine import Engine, Row

_COMPARED = 200  # errors or checks of a project that are compared with those of a session
_FACTS = ("cause", "names", "command", "passing", "times", "keys")


def build_error_id(capture: int, error: dict[str, Any]) -> str:
    """Return the id of an error: the same when its session is read again."""
    name = f"{capture}:{error.get('key')}:{error.get('known')}"
    return "e" + blake2b(name.encode("utf-8", "replace"), digest_size=6).hexdigest()


def save_errors(engine: Engine, capture: int, state: dict[str, Any], numbers: set[int], now: int) -> None:
    """Save the errors of the episodes that changed and the checks that passed; close what they show to be fixed."""
    session = sessions.get(engine, captures.get(engine, capture)["session_id"])
    project = (session["project"] if session else None) or ""
    found = [error for error in state["errors"] if error["episode"] in numbers]
    rows = [{**_build_row(capture, error, now), "project": project} for error in found]
    checks = [{"capture": capture, "command": command, "at": at or now} for command, at in state["passed"].items()]
    session_errors.save(engine, rows)
    session_errors.save_checks(engine, checks)
    command_runs.save(engine, capture, state["runs"])
    command_runs.save_refused(engine, capture, project, state["refused"])
    if session is not None and project and (rows or checks):
        _close_older(engine, capture, session, rows, checks)
        _close_own(engine, capture, session, [row for row in rows if not row["fix"]])


def _build_row(capture: int, error: dict[str, Any], now: int) -> Row:
    return {
        "id": build_error_id(capture, error), "capture": capture, "episode": error["episode"],
        "at": error["at"] or now, "signature": error["known"], "shape": error["shape"], "line": error["line"],
        "program": error["part"][0], "culprit": error["part"][1],
        "fix": error["fix"], "fix_kind": error["how"], "verified": int(error["verified"]),
        "facts": orjson.dumps({name: error[name] for name in _FACTS}).decode(),
    }  # fmt: skip


def _close_older(engine: Engine, capture: int, session: Row, rows: list[Row], checks: list[Row]) -> None:
    """Close errors of earlier sessions that this one fixed, or whose check passed in it."""
    fixed = {row["signature"]: row["at"] for row in rows if row["fix"]}
    latest = max([*fixed.values(), *(check["at"] for check in checks)], default=0)
    older = session_errors.list_not_fixed(engine, session["project"], latest, capture, _COMPARED) if latest else []
    closed = [
        row["id"]
        for row in older
        if fixed.get(row["signature"], 0) > row["at"] or _find_passed(row, checks) is not None
    ]
    session_errors.mark_fixed(engine, closed, session["id"])


def _close_own(engine: Engine, capture: int, session: Row, rows: list[Row]) -> None:
    """Close errors of this session that later ones fixed: transcripts are not read in the order of their sessions."""
    if not rows:
        return
    first, project = min(row["at"] for row in rows), session["project"]
    signatures = [row["signature"] for row in rows]
    fixed = {
        row["signature"]: row["session_id"]
        for row in session_errors.list_fixed_later(engine, signatures, project, first, capture)
    }
    passed = session_errors.list_passed_later(engine, project, first, capture, _COMPARED)
    for row in rows:
        check = _find_passed(row, passed)
        later = fixed.get(row["signature"]) or (check["session_id"] if check else None)
        if later:
            session_errors.mark_fixed(engine, [row["id"]], later)


def _find_passed(row: Row, checks: Sequence[Row]) -> Row | None:
    """Return the first later check that covers what an error was about."""
    facts = orjson.loads(row["facts"])
    if not facts["command"] or not same_work.find_check(facts["command"]):
        return None
    text = " ".join(facts["names"])
    return next(
        (
            check
            for check in checks
            if check["at"] > row["at"] and same_work.is_same_check(check["command"], facts["command"], text)
        ),
        None,
    )
