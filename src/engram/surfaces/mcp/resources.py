"""Pages of the memory under addresses: engram://session/ID, engram://era/2026-11, engram://world …

A kind of page is one line in `KINDS`: how it is read, and which of them are listed.
"""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import quote as escaped
from urllib.parse import unquote

from engram.api import Engram
from engram.errors import Error, InvalidInput, NotFound
from engram.hub import Hub
from engram.model import Around, Exchange
from engram.surfaces.mcp import page as parts
from engram.surfaces.mcp import session
from engram.surfaces.mcp.caller import Caller
from engram.surfaces.mcp.protocol import BAD_PARAMS, NO_RESOURCE, Fault
from engram.surfaces.mcp.templates import SCHEME
from engram.text import cut, inline, one_line, quote
from engram.value import value
from engram.vault import daily_log, vault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["SCHEME", "page", "surroundings"]

_LISTED = 50  # a page of the list
_MOST = 1000  # sessions that are listed
_LONGEST = 4000  # tokens of a page a client takes in whole
_ARTICLES = ("concepts", "connections", "qa")
_SAID = 20  # exchanges on the page of a session


@value
class Kind:
    """One kind of page: how one is read, and which there are."""

    read: Callable[[Hub, Caller, str], str]
    found: Callable[[Hub, Caller], Iterator[tuple[str, str]]]  # key and title


def listed(hub: Hub, caller: Caller, cursor: Any) -> dict[str, Any]:
    """Return a page of the list of pages."""
    begin = parts.start(cursor if isinstance(cursor, str) else None)
    every = ((name, *entry) for name, kind in KINDS.items() for entry in kind.found(hub, caller))
    shown = list(islice(every, begin, begin + _LISTED + 1))
    more = {"nextCursor": parts.cursor_at(begin + _LISTED)} if len(shown) > _LISTED else {}
    return {"resources": [_resource(*each) for each in shown[:_LISTED]], **more}


def read(hub: Hub, caller: Caller, uri: Any, *, modern: bool) -> dict[str, Any]:
    """Return one page as markdown, cut where it would fill a context."""
    if not isinstance(uri, str):
        raise Fault(BAD_PARAMS, "uri must be text.")
    try:
        whole = page(hub, caller, uri)
    except (NotFound, InvalidInput) as error:
        raise Fault(BAD_PARAMS if modern else NO_RESOURCE, str(error), {"uri": uri}) from error
    kept = cut(whole, _LONGEST)
    rest = "" if kept == whole else f"\n\n… the rest: the tool get with id {inline(uri, 200)}."
    return {"contents": [{"uri": uri, "mimeType": "text/markdown", "text": kept + rest}]}


def page(hub: Hub, caller: Caller, uri: str) -> str:
    """Return the whole text of a page."""
    kind, _, key = uri.removeprefix(SCHEME).partition("/")
    found = KINDS.get(kind) if uri.startswith(SCHEME) else None
    if found is None:
        raise NotFound(
            kind="page", id=one_line(uri, 200), hint=f"There are {', '.join(SCHEME + name for name in KINDS)}."
        )
    return found.read(hub, caller, unquote(key))


def surroundings(hit: Around) -> str:
    """Return something that was found, whole, with what stands around it, all of it quoted."""
    day = f", {hit.at.isoformat(timespec='minutes')}" if hit.at else ""
    head = f"# {hit.tier} `{hit.id}`: {inline(hit.title)}\n\n{inline(hit.source)}{day}"
    where = f", [session]({SCHEME}session/{hit.session_id})" if hit.session_id else ""
    said = f"\n\n## Around it\n\n{_conversation(hit.exchanges)}" if hit.exchanges else ""
    return f"{head}{where}\n\n{quote(hit.content)}{said}"


def _resource(kind: str, key: str, title: str) -> dict[str, Any]:
    uri = f"{SCHEME}{kind}/{escaped(key, safe='')}" if key else f"{SCHEME}{kind}"
    return {"uri": uri, "name": uri.removeprefix(SCHEME), "title": inline(title, 120), "mimeType": "text/markdown"}


def _session(hub: Hub, _: Caller, key: str) -> str:
    found = Engram.get_session(hub, key)
    state = f"{found.flavor}, {found.project or 'no project'}, {found.started_at.date().isoformat()}, {found.presence}"
    sections = [f"# Session `{found.id}`: {inline(found.summary)}", inline(state, 300)]
    if found.completion_summary:
        sections += ["## At its end it said", quote(found.completion_summary)]
    gist = Engram.get_summary(hub, found.id)
    if gist and gist.content:
        sections += ["## Gist", quote(gist.content)]
    logs = Engram.get_session_logs(hub, found.id)
    if logs:
        sections += ["## Log", *(quote(entry.entry) for entry in reversed(logs))]
    said = Engram.recent(hub, found.id, _SAID)
    if said:
        sections += ["## Last said", _conversation(said)]
    return "\n\n".join(sections)


def _sessions(hub: Hub, _: Caller) -> Iterator[tuple[str, str]]:
    for capture in Engram.list_sessions(hub, limit=_MOST):
        found = capture.session
        yield found.id, f"{found.flavor} {found.started_at.date().isoformat()}: {found.summary or capture.title or ''}"


def _gist(hub: Hub, _: Caller, key: str) -> str:
    gist = Engram.get_summary(hub, key)
    if gist is None or not gist.content:
        raise NotFound(kind="gist of", id=key, hint="Make it with `engram summarize`.")
    return f"# Gist of session `{gist.session_id}`\n\n{quote(gist.content)}"


def _digest(hub: Hub, _: Caller, key: str) -> str:
    digest = Engram.get_digest(hub, key)
    facts = [f"- {name}: {inline(json.dumps(each, ensure_ascii=False), 1000)}" for name, each in digest.facts.items()]
    return "\n".join([f"# Digest of session `{digest.session_id}`", "", f"- outcome: {digest.outcome}", *facts])


def _era(hub: Hub, _: Caller, key: str) -> str:
    era = next((each for each in Engram.list_eras(hub) if each.month == key), None)
    if era is None:
        raise NotFound(kind="era", id=key, hint="It is a month like 2026-11; `engram eras` lists them.")
    return f"# {era.month}\n\n{quote(era.content)}"


def _eras(hub: Hub, _: Caller) -> Iterator[tuple[str, str]]:
    for era in sorted(Engram.list_eras(hub), key=lambda each: each.month, reverse=True):
        yield era.month, f"What {era.month} came to"


def _article(hub: Hub, _: Caller, key: str) -> str:
    if key.partition("/")[0] not in _ARTICLES:
        raise NotFound(kind="article", id=key, hint=f"It is {', '.join(f'{each}/NAME' for each in _ARTICLES)}.")
    return _page(hub, key)


def _daily(hub: Hub, _: Caller, key: str) -> str:
    return _page(hub, f"daily/{key}")


def _page(hub: Hub, target: str) -> str:
    found = Engram.get(hub, target)
    return f"# {found.tier} `{inline(found.id, 200)}`: {inline(found.title)}\n\n{quote(found.content)}"


def _articles(hub: Hub, _: Caller) -> Iterator[tuple[str, str]]:
    for target in vault.of(hub).pages(*_ARTICLES):
        yield target, target.partition("/")[2].replace("-", " ")


def _days(hub: Hub, _: Caller) -> Iterator[tuple[str, str]]:
    for day in reversed(daily_log.days(vault.of(hub))):
        yield day, f"Daily log {day}"


def _world(hub: Hub, _: Caller, key: str) -> str:
    state = Engram.world_state(hub, key or None)
    who = f" by `{inline(state.updated_by, 60)}`" if state.updated_by else ""
    when = state.updated_at.isoformat(timespec="minutes")
    return f"# World state, version {state.version}, {when}{who}\n\n{quote(state.content)}"


def _worlds(hub: Hub, caller: Caller) -> Iterator[tuple[str, str]]:
    here = session.project_of(hub, caller, session.find(hub, caller))
    for key, title in (("", "World state"), *([(here, f"World state of {here}")] if here else ())):
        if Engram.get_world_state(hub, key or None):
            yield key, title


def _profile(hub: Hub, _: Caller, key: str) -> str:
    return _told("profile", Engram.get_profile(hub, key or "self"), key)


def _narrative(hub: Hub, _: Caller, key: str) -> str:
    return _told("narrative", Engram.get_narrative(hub, key or "current"), key)


def _told(kind: str, content: str | None, key: str) -> str:
    if not content:
        raise NotFound(kind=kind, id=key, hint="Make it with `engram summarize` and `engram integrate`.")
    return f"# {kind.capitalize()}\n\n{quote(content)}"


def _if_there(
    read: Callable[[Hub, Caller, str], str], title: str
) -> Callable[[Hub, Caller], Iterator[tuple[str, str]]]:
    """List a page of which there is one, unless it is empty."""

    def found(hub: Hub, caller: Caller) -> Iterator[tuple[str, str]]:
        try:
            read(hub, caller, "")
        except Error:
            return
        yield "", title

    return found


def _unlisted(_: Hub, __: Caller) -> Iterator[tuple[str, str]]:
    """List none: such a page is reached from that of its session."""
    return iter(())


def _conversation(said: Any) -> str:
    return "\n\n".join(map(_exchange, said))


def _exchange(said: Exchange) -> str:
    when = said.created_at.isoformat(timespec="minutes")
    return f"`x{said.id}` {inline(said.role, 40)}, {when}:\n{quote(said.content)}"


KINDS = {
    "world": Kind(read=_world, found=_worlds),
    "profile": Kind(read=_profile, found=_if_there(_profile, "What is known of the user")),
    "narrative": Kind(read=_narrative, found=_if_there(_narrative, "Where things stand")),
    "era": Kind(read=_era, found=_eras),
    "article": Kind(read=_article, found=_articles),
    "daily": Kind(read=_daily, found=_days),
    "session": Kind(read=_session, found=_sessions),
    "gist": Kind(read=_gist, found=_unlisted),
    "digest": Kind(read=_digest, found=_unlisted),
}
