"""The list that `engram sessions` prints: running sessions first, then the past."""

from __future__ import annotations

from engram.capture.digests.session_list import count_sessions, list_all_sessions
from engram.surfaces.cli.output import print_notice, show_result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from engram.hub import Hub
    from engram.types import Session, SessionEntry

DEFAULT_LIMIT = 25
_NO_SESSIONS = "No sessions yet. Run `engram init` to connect your agents, or `engram ingest` to read their history."


def show_history(
    hub: Hub, project: str | None, *, limit: int = DEFAULT_LIMIT, as_json: bool = False, **filters: Any
) -> None:
    """Print the sessions that match, and how to see more."""
    listed_sessions = list_all_sessions(hub, project, limit=limit, **filters)
    is_filtered = project is not None or any(filter_value for filter_value in filters.values())
    if as_json:
        show_result([_entry_to_dict(entry) for entry in listed_sessions], True)
        return
    show_result(listed_sessions, False, "No session matches." if is_filtered else _NO_SESSIONS)
    if listed_sessions:
        print_notice(_format_footer(len(listed_sessions), limit, None if is_filtered else count_sessions(hub)))


def _format_footer(shown: int, limit: int, total: int | None) -> str:
    if total is not None and total > shown:
        rest = f"{shown:,} of {total:,} sessions; -n shows more. "
    else:
        rest = f"More may match; -n {limit * 4} shows them. " if shown == limit and total is None else ""
    return f"{rest}`engram show ID` shows one."


def _entry_to_dict(entry: SessionEntry) -> dict[str, Any]:
    fields = fields_to_dict(entry)
    return {**fields_to_dict(fields.pop("session")), **fields}


def fields_to_dict(fields: Session | SessionEntry) -> dict[str, Any]:
    """Return the fields of a value by name."""
    return {name: getattr(fields, name) for name in type(fields).__match_args__}
