"""MCP resources, markdown pages with addresses: engram://session/ID, engram://era/2026-11, engram://world …

Each kind of page is one line in `KINDS`: how to read a page, and how to list the pages.
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
from engram.platform.text import cut_to_tokens, escape_inline, quote_as_data, to_one_line
from engram.platform.value import value
from engram.surfaces.mcp import paging, session
from engram.surfaces.mcp.caller import Caller
from engram.surfaces.mcp.protocol import BAD_PARAMS, NO_RESOURCE, Fault
from engram.surfaces.mcp.resource_templates import SCHEME
from engram.types import Around, Exchange
from engram.wiki.vault import daily_log, vault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["SCHEME"]

_PAGE_SIZE = 50  # entries per page of the list
_MAX_SESSIONS = 1000  # sessions listed
_MAX_PAGE_TOKENS = 4000  # of one resource; the tool get reads the rest
_ARTICLE_FOLDERS = ("concepts", "connections", "qa")
_MAX_EXCHANGES = 20  # per session page


@value
class ResourceKind:
    """A kind of page: how to read one and how to list them."""

    read: Callable[[Hub, Caller, str], str]
    list_entries: Callable[[Hub, Caller], Iterator[tuple[str, str]]]  # yields key and title


def list_resources(hub: Hub, caller: Caller, cursor: Any) -> dict[str, Any]:
    """Return one page of the list of resources."""
    begin = paging.parse_cursor(cursor if isinstance(cursor, str) else None)
    all_entries = ((name, *entry) for name, kind in KINDS.items() for entry in kind.list_entries(hub, caller))
    shown_entries = list(islice(all_entries, begin, begin + _PAGE_SIZE + 1))
    more = {"nextCursor": paging.make_cursor(begin + _PAGE_SIZE)} if len(shown_entries) > _PAGE_SIZE else {}
    return {"resources": [_describe_resource(*entry) for entry in shown_entries[:_PAGE_SIZE]], **more}


def read_resource(hub: Hub, caller: Caller, uri: Any, *, modern: bool) -> dict[str, Any]:
    """Return one page as markdown, cut to a size that fits a context window."""
    if not isinstance(uri, str):
        raise Fault(BAD_PARAMS, "uri must be a string.")
    try:
        full_text = read_page(hub, caller, uri)
    except (NotFound, InvalidInput) as error:
        raise Fault(BAD_PARAMS if modern else NO_RESOURCE, str(error), {"uri": uri}) from error
    shown_text = cut_to_tokens(full_text, _MAX_PAGE_TOKENS)
    rest = "" if shown_text == full_text else f"\n\n… Read the rest with the tool get, id {escape_inline(uri, 200)}."
    return {"contents": [{"uri": uri, "mimeType": "text/markdown", "text": shown_text + rest}]}


def read_page(hub: Hub, caller: Caller, uri: str) -> str:
    """Return the full text of a page."""
    kind, _, key = uri.removeprefix(SCHEME).partition("/")
    resource_kind = KINDS.get(kind) if uri.startswith(SCHEME) else None
    if resource_kind is None:
        raise NotFound(
            kind="page", id=to_one_line(uri, 200), hint=f"Pages: {', '.join(SCHEME + name for name in KINDS)}."
        )
    return resource_kind.read(hub, caller, unquote(key))


def render_surroundings(hit: Around) -> str:
    """Return a hit in full with the surrounding messages, all quoted."""
    day = f", {hit.at.isoformat(timespec='minutes')}" if hit.at else ""
    head = f"# {hit.tier} `{hit.id}`: {escape_inline(hit.title)}\n\n{escape_inline(hit.source)}{day}"
    session_link = f", [session]({SCHEME}session/{hit.session_id})" if hit.session_id else ""
    exchanges_text = f"\n\n## Context\n\n{_render_conversation(hit.exchanges)}" if hit.exchanges else ""
    return f"{head}{session_link}\n\n{quote_as_data(hit.content)}{exchanges_text}"


def _describe_resource(kind: str, key: str, title: str) -> dict[str, Any]:
    uri = f"{SCHEME}{kind}/{escaped(key, safe='')}" if key else f"{SCHEME}{kind}"
    return {
        "uri": uri,
        "name": uri.removeprefix(SCHEME),
        "title": escape_inline(title, 120),
        "mimeType": "text/markdown",
    }


def _render_session(hub: Hub, _: Caller, key: str) -> str:
    found_session = Engram.get_session(hub, key)
    state = (
        f"{found_session.flavor}, {found_session.project or 'no project'}, "
        f"{found_session.started_at.date().isoformat()}, {found_session.presence}"
    )
    sections = [f"# Session `{found_session.id}`: {escape_inline(found_session.summary)}", escape_inline(state, 300)]
    if found_session.completion_summary:
        sections += ["## Completion summary", quote_as_data(found_session.completion_summary)]
    gist = Engram.get_summary(hub, found_session.id)
    if gist and gist.content:
        sections += ["## Summary", quote_as_data(gist.content)]
    logs = Engram.get_session_logs(hub, found_session.id)
    if logs:
        sections += ["## Log", *(quote_as_data(entry.entry) for entry in reversed(logs))]
    exchanges = Engram.recent(hub, found_session.id, _MAX_EXCHANGES)
    if exchanges:
        sections += ["## Last messages", _render_conversation(exchanges)]
    return "\n\n".join(sections)


def _list_sessions(hub: Hub, _: Caller) -> Iterator[tuple[str, str]]:
    for capture in Engram.list_sessions(hub, limit=_MAX_SESSIONS):
        found_session = capture.session
        yield (
            found_session.id,
            (
                f"{found_session.flavor} {found_session.started_at.date().isoformat()}: "
                f"{found_session.summary or capture.title or ''}"
            ),
        )


def _render_gist(hub: Hub, _: Caller, key: str) -> str:
    gist = Engram.get_summary(hub, key)
    if gist is None or not gist.content:
        raise NotFound(kind="gist of", id=key, hint="Run `engram summarize` to write it.")
    return f"# Summary of session `{gist.session_id}`\n\n{quote_as_data(gist.content)}"


def _render_digest(hub: Hub, _: Caller, key: str) -> str:
    digest = Engram.get_digest(hub, key)
    facts = [
        f"- {name}: {escape_inline(json.dumps(fact, ensure_ascii=False), 1000)}" for name, fact in digest.facts.items()
    ]
    return "\n".join([f"# Digest of session `{digest.session_id}`", "", f"- outcome: {digest.outcome}", *facts])


def _render_era(hub: Hub, _: Caller, key: str) -> str:
    era = next((listed_era for listed_era in Engram.list_eras(hub) if listed_era.month == key), None)
    if era is None:
        raise NotFound(kind="era", id=key, hint="Pass a month such as 2026-11; `engram eras` lists them.")
    return f"# {era.month}\n\n{quote_as_data(era.content)}"


def _list_eras(hub: Hub, _: Caller) -> Iterator[tuple[str, str]]:
    for era in sorted(Engram.list_eras(hub), key=lambda era: era.month, reverse=True):
        yield era.month, f"Summary of {era.month}"


def _render_article(hub: Hub, _: Caller, key: str) -> str:
    if key.partition("/")[0] not in _ARTICLE_FOLDERS:
        raise NotFound(
            kind="article", id=key, hint=f"Use {', '.join(f'{folder}/NAME' for folder in _ARTICLE_FOLDERS)}."
        )
    return _render_wiki_page(hub, key)


def _render_daily(hub: Hub, _: Caller, key: str) -> str:
    return _render_wiki_page(hub, f"daily/{key}")


def _render_wiki_page(hub: Hub, target: str) -> str:
    wiki_page = Engram.get(hub, target)
    return (
        f"# {wiki_page.tier} `{escape_inline(wiki_page.id, 200)}`: "
        f"{escape_inline(wiki_page.title)}\n\n{quote_as_data(wiki_page.content)}"
    )


def _list_articles(hub: Hub, _: Caller) -> Iterator[tuple[str, str]]:
    for target in vault.open_vault(hub).iter_pages(*_ARTICLE_FOLDERS):
        yield target, target.partition("/")[2].replace("-", " ")


def _list_days(hub: Hub, _: Caller) -> Iterator[tuple[str, str]]:
    for day in reversed(daily_log.list_days(vault.open_vault(hub))):
        yield day, f"Daily log {day}"


def _render_world(hub: Hub, _: Caller, key: str) -> str:
    state = Engram.world_state(hub, key or None)
    author = f" by `{escape_inline(state.updated_by, 60)}`" if state.updated_by else ""
    when = state.updated_at.isoformat(timespec="minutes")
    return f"# World state, version {state.version}, {when}{author}\n\n{quote_as_data(state.content)}"


def _list_worlds(hub: Hub, caller: Caller) -> Iterator[tuple[str, str]]:
    project = session.find_project(hub, caller, session.find_session(hub, caller))
    for key, title in (("", "World state"), *([(project, f"World state of {project}")] if project else ())):
        if Engram.get_world_state(hub, key or None):
            yield key, title


def _render_profile(hub: Hub, _: Caller, key: str) -> str:
    return _render_text("profile", Engram.get_profile(hub, key or "self"), key)


def _render_narrative(hub: Hub, _: Caller, key: str) -> str:
    return _render_text("narrative", Engram.get_narrative(hub, key or "current"), key)


def _render_text(kind: str, content: str | None, key: str) -> str:
    if not content:
        raise NotFound(kind=kind, id=key, hint="Run `engram summarize` and `engram integrate` to write it.")
    return f"# {kind.capitalize()}\n\n{quote_as_data(content)}"


def _list_if_present(
    read: Callable[[Hub, Caller, str], str], title: str
) -> Callable[[Hub, Caller], Iterator[tuple[str, str]]]:
    """Return a function that lists a single page unless it is empty."""

    def list_single(hub: Hub, caller: Caller) -> Iterator[tuple[str, str]]:
        try:
            read(hub, caller, "")
        except Error:
            return
        yield "", title

    return list_single


def _list_none(_: Hub, __: Caller) -> Iterator[tuple[str, str]]:
    """List nothing: these pages are linked from the session's page."""
    return iter(())


def _render_conversation(exchanges: Any) -> str:
    return "\n\n".join(map(_render_exchange, exchanges))


def _render_exchange(exchange: Exchange) -> str:
    when = exchange.created_at.isoformat(timespec="minutes")
    return f"`x{exchange.id}` {escape_inline(exchange.role, 40)}, {when}:\n{quote_as_data(exchange.content)}"


KINDS = {
    "world": ResourceKind(read=_render_world, list_entries=_list_worlds),
    "profile": ResourceKind(read=_render_profile, list_entries=_list_if_present(_render_profile, "User profile")),
    "narrative": ResourceKind(
        read=_render_narrative, list_entries=_list_if_present(_render_narrative, "Current narrative")
    ),
    "era": ResourceKind(read=_render_era, list_entries=_list_eras),
    "article": ResourceKind(read=_render_article, list_entries=_list_articles),
    "daily": ResourceKind(read=_render_daily, list_entries=_list_days),
    "session": ResourceKind(read=_render_session, list_entries=_list_sessions),
    "gist": ResourceKind(read=_render_gist, list_entries=_list_none),
    "digest": ResourceKind(read=_render_digest, list_entries=_list_none),
}
