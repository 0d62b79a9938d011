"""The page of now: who is here, what they hold, what was prevented, and words to them."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from engram.errors import Conflict, Error, InvalidInput, NotFound
from engram.model import Sent
from engram.surfaces.dashboard.drawing import diff
from engram.surfaces.dashboard.frame import Address, Ask, told, whole
from engram.surfaces.dashboard.pages import search
from engram.surfaces.dashboard.pages.board import PARTS
from engram.text import counted, one_line

_CHOICES = 60  # sessions one can write to
_BACK = "/now#world"


def now(ask: Ask) -> Response:
    """Draw the whole board, which is where people come in."""
    search.warm(ask.engram)
    parts = {each.id: each.draw(ask.engram, each.look(ask.engram)) for each in PARTS.values()}
    return ask.draw("now/now.html", parts=parts, **_form(ask, ask.given("to") or "", ""))


def part(ask: Ask) -> Response:
    """Draw one part of the board."""
    found = PARTS.get(ask.path("part"))
    if found is None:
        raise NotFound(kind="part", id=one_line(ask.path("part")), hint="The page Now has them all.")
    return ask.draw(found.template, **found.facts(ask.engram))


def message(ask: Ask) -> Response:
    """Draw the form of a message, with its reader chosen and what was typed before."""
    return ask.draw("now/_message_form.html", **_form(ask, ask.given("to") or "", ask.given("body") or ""))


def send(ask: Ask) -> Response:
    """Send a message as the person who looks; what was typed stays if it cannot be sent."""
    reader, body = ask.said("to"), ask.said("body")
    kind, _, named = reader.partition(" ")
    to, project = (kind, named) if kind in ("all", "next") else (named, "")
    try:
        sent = ask.engram.send(None, to, body, project or None)
    except Error as problem:
        if not ask.is_part:
            raise
        return ask.draw("now/_message_form.html", status=problem.status, **_form(ask, reader, body, problem))
    if not ask.is_part:
        return ask.go("/now")
    return ask.draw("now/_message_form.html", headers=told(_reached(sent)), **_form(ask, "", ""))


def _form(ask: Ask, chosen: str, body: str, problem: Error | None = None) -> dict[str, Any]:
    """Return what the form of a message shows."""
    readers = ask.engram.get_active_sessions(limit=_CHOICES)
    projects = sorted({each.project for each in readers if each.project})
    return {"readers": readers, "projects": projects, "chosen": chosen, "body": body, "problem": problem}


def _reached(sent: Sent) -> str:
    if sent.waiting:
        return "Kept for the next session of the project."
    return f"Sent to {counted(len(sent.recipients), 'session')}." if sent.recipients else "Nobody is there to read it."


def edit(ask: Ask) -> Response:
    """Draw the editor of a world state, with the version that is changed."""
    project = ask.given("project") or ""
    content, version = _current(ask, project)
    return _editor(ask, project, content, version)


def save(ask: Ask) -> Response:
    """Keep a world state; where somebody changed it meanwhile, show both and lose neither."""
    project, content, version = ask.said("project"), ask.said("content"), _version(ask)
    try:
        state = ask.engram.set_world_state(content, _person(), version, project or None)
    except Conflict as conflict:
        return _editor(ask, project, content, conflict.version, conflict, version)
    except Error as problem:
        return _editor(ask, project, content, version, problem)
    if not ask.is_part:
        return ask.go(_BACK)
    shown = PARTS["world"]
    return ask.draw(
        shown.template, headers=told(f"The world state is at version {state.version}."), **shown.facts(ask.engram)
    )


def _editor(
    ask: Ask, project: str, content: str, version: int, problem: Error | None = None, seen: int | None = None
) -> Response:
    """Draw the editor, and after a conflict what others changed since the version that was seen."""
    facts: dict[str, Any] = {
        "project": project, "content": content, "version": version, "problem": problem,
        "limit": ask.engram.settings.world_state_tokens, "diff": [], "theirs": "",
    }  # fmt: skip
    if seen is not None:
        try:
            facts["diff"] = diff.lines(ask.engram.world_diff(seen, version, project or None))
        except (NotFound, InvalidInput):  # a version that never was, or is gone
            facts["theirs"] = _current(ask, project)[0]
    return ask.show("now/world_editor", status=problem.status if problem else 200, **facts)


def _current(ask: Ask, project: str) -> tuple[str, int]:
    try:
        state = ask.engram.world_state(project or None)
    except NotFound:
        return "", 0
    return state.content, state.version


def _version(ask: Ask) -> int:
    reason = "the form does not say which version it changes. Open it again."
    return whole("version", ask.said("version"), reason)


def _person() -> str:
    """Return who sits at the browser, as this machine knows them."""
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return "a person"


ADDRESSES = (
    Address("/now", now),
    Address("/now/part/{part}", part),
    Address("/now/message", message),
    Address("/now/message", send, writes=True),
    Address("/now/world", edit),
    Address("/now/world", save, writes=True),
)
