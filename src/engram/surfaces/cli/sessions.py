"""`engram sessions` and `engram show`: running agents and all past sessions."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from engram.errors import InvalidInput, NotFound
from engram.hub import Hub
from engram.sessions import lifecycle
from engram.sessions.project_names import name_projects
from engram.surfaces.cli.options import find_project, json_option, limit_option, project_option
from engram.surfaces.cli.output import print_notice, print_text, show_result
from engram.surfaces.cli.render.project_labels import use_labels
from engram.surfaces.cli.session_history import DEFAULT_LIMIT, fields_to_dict, show_history
from engram.surfaces.cli.times import parse_hours_ago
from engram.types import OUTCOMES


def list_sessions(
    project: str | None, everywhere: bool, active: bool, recent: bool, captured: bool, subagents: bool,
    hours: float | None, limit: int, as_json: bool, **filters: Any,
) -> None:  # fmt: skip
    """List sessions, running ones first.

    Marks: ● running, ✓ success, ~ partial, ✗ failure, - abandoned.
    """
    with Hub() as hub:
        use_labels(partial(name_projects, hub))
        project_root = None if everywhere else find_project(hub, project)
        if active:
            running_sessions = lifecycle.get_active_sessions(hub, project_root, limit)
            show_result(running_sessions, as_json, "No agents are running.")
        elif recent:
            completed_sessions = lifecycle.get_recent_sessions(hub, hours or 24, project_root, limit)
            show_result(completed_sessions, as_json, f"No session was completed in the last {hours or 24:g} hours.")
        else:
            filters |= {"subagents": subagents, "days": None if hours is None else hours / 24}
            if filters["since"] and filters["since"][-1:] in ("h", "d"):
                filters |= {"since": None, "days": (parse_hours_ago(filters["since"]) or 0) / 24}
            _show_history(hub, project_root, limit, captured, as_json, filters)


def _show_history(
    hub: Hub, project: str | None, limit: int, only_captured: bool, as_json: bool, filters: dict[str, Any]
) -> None:
    if only_captured and as_json:
        from engram.capture.digests.transcript import list_sessions as list_captures

        show_result(list_captures(hub, project, limit=limit, **filters), True)
    else:
        show_history(hub, project, limit=limit, as_json=as_json, **filters)


def show_session(
    session_id: str, events: bool, digest: bool, cost: bool, outline: bool, kind: str | None, start: str | None,
    limit: int, as_json: bool,
) -> None:  # fmt: skip
    """Show one session: what was asked, done and spent."""
    if events + digest + cost + outline > 1:
        raise InvalidInput(field="show", reason="Choose one of --events, --digest, --cost, --outline.")
    from engram.capture.digests import cost as session_cost
    from engram.capture.digests import digest as session_digest
    from engram.capture.digests import transcript

    with Hub() as hub:
        if events or kind or start:
            _show_events(hub, session_id, kind, start, limit, as_json)
        elif outline:
            show_result(transcript.get_outline(hub, session_id), as_json)
        elif digest:
            show_result(session_digest.get_digest(hub, session_id), as_json)
        elif cost:
            show_result(session_cost.cost(hub, "model", session_id), as_json, "Its transcript has no token counts.")
        else:
            _show_overview(hub, session_id, as_json)


def _show_events(hub: Hub, session_id: str, kind: str | None, start: str | None, limit: int, as_json: bool) -> None:
    """Show events from the beginning or from one event on, and say if there are more."""
    from engram.capture.digests import transcript

    if start and kind:
        raise InvalidInput(field="--from", reason="--from cannot be combined with --kind.")
    before = transcript.locate_event(hub, session_id, _parse_event_id(start)) if start else 0
    events = transcript.get_events(hub, session_id, kind, limit, before)
    show_result(events, as_json, "No such events.")
    if len(events) < limit or as_json:
        return
    outline = transcript.get_outline(hub, session_id)
    total = outline.events if kind is None else outline.kinds.get(kind, 0)
    if total > before + limit:
        print_notice(f"{limit:,} {'from there' if start else f'of {total:,} events'}; -n shows more.")


def _parse_event_id(event: str) -> int:
    digits = event.removeprefix("e")
    if not digits.isascii() or not digits.isdecimal():
        raise InvalidInput(
            field="--from", reason=f"{event!r} is not an event id. `engram recall` shows them, like e77."
        )
    return int(digits)


def _show_overview(hub: Hub, session_id: str, as_json: bool) -> None:
    """Show a session with its digest and its subagents, as far as they are known."""
    from engram.capture.digests import digest, episodes, transcript
    from engram.surfaces.cli.render.session_view import render_session

    session = lifecycle.get_session(hub, session_id)
    parts: dict[str, Any] = {}
    try:
        parts["capture"] = transcript.get_capture(hub, session.id)
        parts["digest"] = digest.get_digest(hub, session.id)
        parts["children"] = transcript.get_children(hub, session.id)
        parts["episodes"] = episodes.list_episodes(hub, session.id)
    except NotFound:
        pass  # never captured: what it said of itself is all there is
    if as_json:
        show_result({**fields_to_dict(session), **parts}, True)
    else:
        print_text(render_session(session, **parts))


COMMANDS = {
    "sessions": click.Command(
        "sessions", callback=list_sessions, help=list_sessions.__doc__,
        params=[
            project_option(),
            click.Option(["--active"], is_flag=True, help="Only running sessions."),
            click.Option(["-r", "--recent"], is_flag=True, help="Only sessions completed in the last --hours."),
            click.Option(["--agent", "flavor"], help="Only sessions of this agent."),
            click.Option(["--outcome"], type=click.Choice(OUTCOMES), help="Only sessions with this outcome."),
            click.Option(["--since"], help="Only sessions active since then: 7d, 12h or 2026-11-01."),
            click.Option(["--until"], help="Only sessions started on or before this day."),
            click.Option(["--min-cost"], type=float, help="Only sessions that cost at least this many dollars."),
            click.Option(["--domain"], help="Only sessions in projects of this domain."),
            click.Option(["--subagents"], is_flag=True, help="Include subagents."),
            click.Option(["--hours"], type=float, help="How many hours back; 24 with --recent."),
            limit_option(DEFAULT_LIMIT, "sessions"),
            click.Option(["-a", "--all", "everywhere"], is_flag=True, hidden=True, help="All projects (the default)."),
            click.Option(["-c", "--captured"], is_flag=True, hidden=True, help="Captured sessions (the default)."),
            json_option(),
        ],
    ),
    "show": click.Command(
        "show", callback=show_session, help=show_session.__doc__,
        params=[
            click.Argument(["session_id"]),
            click.Option(["--events"], is_flag=True, help="Every event, in order."),
            click.Option(["--outline"], is_flag=True, help="The prompts, one line each."),
            click.Option(["--digest"], is_flag=True, help="Only the facts computed from the transcript."),
            click.Option(["--cost"], is_flag=True, help="Tokens and money by model."),
            click.Option(["--from", "start"], help="Only events from this one on, like e77."),
            click.Option(["--kind"], help="Only events of this kind: message, call, result …"),
            limit_option(200, "events"),
            json_option(),
        ],
    ),
}  # fmt: skip
