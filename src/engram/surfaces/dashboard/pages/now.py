"""The Now page: running agents, locks, conflicts, messages and world state."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from engram.errors import Conflict, Error, InvalidInput, NotFound
from engram.platform.text import format_count, to_one_line
from engram.surfaces.dashboard.drawing import diff
from engram.surfaces.dashboard.layout import PageAddress, PageRequest, build_notice, parse_number
from engram.surfaces.dashboard.pages import search
from engram.surfaces.dashboard.pages.live_board import PARTS
from engram.types import Sent

_MAX_READERS = 60  # sessions offered as recipients
_BACK = "/now#world"


def show_board(request: PageRequest) -> Response:
    """Render the whole board, which is the start page."""
    search.warm_up(request.engram)
    parts = {
        board_part.id: board_part.render(request.engram, board_part.load(request.engram))
        for board_part in PARTS.values()
    }
    return request.render("now/now.html", parts=parts, **_build_form(request, request.get_query("to") or "", ""))


def show_part(request: PageRequest) -> Response:
    """Render one part of the board."""
    board_part = PARTS.get(request.get_path_part("part"))
    if board_part is None:
        raise NotFound(kind="part", id=to_one_line(request.get_path_part("part")), hint="See the Now page.")
    return request.render(board_part.template, **board_part.load_all(request.engram))


def show_message_form(request: PageRequest) -> Response:
    """Render the message form with the recipient selected and the typed text kept."""
    return request.render(
        "now/_message_form.html", **_build_form(request, request.get_query("to") or "", request.get_query("body") or "")
    )


def send_message(request: PageRequest) -> Response:
    """Send a message from the user; keep the typed text if that fails."""
    reader, body = request.get_field("to"), request.get_field("body")
    kind, _, reader_name = reader.partition(" ")
    to, project = (kind, reader_name) if kind in ("all", "next") else (reader_name, "")
    try:
        sent = request.engram.send(None, to, body, project or None)
    except Error as error:
        if not request.is_part:
            raise
        return request.render(
            "now/_message_form.html", status=error.status, **_build_form(request, reader, body, error)
        )
    if not request.is_part:
        return request.redirect("/now")
    return request.render(
        "now/_message_form.html", headers=build_notice(_format_recipients(sent)), **_build_form(request, "", "")
    )


def _build_form(request: PageRequest, chosen: str, body: str, problem: Error | None = None) -> dict[str, Any]:
    """Return the values of the message form."""
    readers = request.engram.get_active_sessions(limit=_MAX_READERS)
    projects = sorted({reader.project for reader in readers if reader.project})
    return {"readers": readers, "projects": projects, "chosen": chosen, "body": body, "problem": problem}


def _format_recipients(sent: Sent) -> str:
    if sent.waiting:
        return "Kept for the next session in the project."
    return (
        f"Sent to {format_count(len(sent.recipients), 'session')}."
        if sent.recipients
        else "No session is running there; nothing was sent."
    )


def show_editor(request: PageRequest) -> Response:
    """Render the editor of a world state with its version."""
    project = request.get_query("project") or ""
    content, version = _read_current(request, project)
    return _render_editor(request, project, content, version)


def save_world_state(request: PageRequest) -> Response:
    """Save a world state; on a conflict, show both texts and lose neither."""
    project, content, version = request.get_field("project"), request.get_field("content"), _parse_version(request)
    try:
        state = request.engram.set_world_state(content, _find_user_name(), version, project or None)
    except Conflict as conflict:
        return _render_editor(request, project, content, conflict.version, conflict, version)
    except Error as error:
        return _render_editor(request, project, content, version, error)
    if not request.is_part:
        return request.redirect(_BACK)
    world_part = PARTS["world"]
    return request.render(
        world_part.template,
        headers=build_notice(f"Saved version {state.version} of the world state."),
        **world_part.load_all(request.engram),
    )


def _render_editor(
    request: PageRequest,
    project: str,
    content: str,
    version: int,
    problem: Error | None = None,
    seen_version: int | None = None,
) -> Response:
    """Render the editor, and after a conflict the changes since the edited version."""
    facts: dict[str, Any] = {
        "project": project, "content": content, "version": version, "problem": problem,
        "limit": request.engram.settings.world_state_tokens, "diff": [], "theirs": "",
    }  # fmt: skip
    if seen_version is not None:
        try:
            facts["diff"] = diff.parse_diff(request.engram.world_diff(seen_version, version, project or None))
        except (NotFound, InvalidInput):  # the version does not exist or was deleted
            facts["theirs"] = _read_current(request, project)[0]
    return request.render_page("now/world_editor", status=problem.status if problem else 200, **facts)


def _read_current(request: PageRequest, project: str) -> tuple[str, int]:
    try:
        state = request.engram.world_state(project or None)
    except NotFound:
        return "", 0
    return state.content, state.version


def _parse_version(request: PageRequest) -> int:
    reason = "missing in the form. Open the editor again."
    return parse_number("version", request.get_field("version"), reason)


def _find_user_name() -> str:
    """Return the name of the user on this machine."""
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return "a person"


ADDRESSES = (
    PageAddress("/now", show_board),
    PageAddress("/now/part/{part}", show_part),
    PageAddress("/now/message", show_message_form),
    PageAddress("/now/message", send_message, writes=True),
    PageAddress("/now/world", show_editor),
    PageAddress("/now/world", save_world_state, writes=True),
)
