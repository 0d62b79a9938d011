"""The vault read once for the checks: every page and log, and which sessions they name are gone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engram.errors import InvalidInput
from engram.hub import Hub
from engram.store import sessions
from engram.vault import article, daily_log, gate, state
from engram.vault.links import links
from engram.vault.vault import Vault
from engram.wiki.checks import Log, Page, View

_ROW = re.compile(r"(?m)^\|[ \t]*\[\[([^\[\]|#\\\n]+)")
_RESTS_ON = ("sources", "consulted", "connects")
_DAY = re.compile(r"daily/\d{4}-\d\d-\d\d")


def view(hub: Hub, vault: Vault) -> View:
    """Return a vault as it stands."""
    unreadable: list[tuple[str, str]] = []
    pages = [page(target, text) for target, text in _texts(vault, unreadable, "concepts", "connections", "qa")]
    compiled = state.load(vault)["logs"]
    logs = [_log(target, text, compiled) for target, text in _texts(vault, unreadable, "daily")]
    named = {each for log in logs for each in log.sessions}
    named |= {each for one in pages for each in one.sources if "/" not in each}
    with hub.engine.transaction():
        here = sessions.those_here(hub.engine, sorted(named))
    return View(
        pages=tuple(pages), logs=tuple(logs), rows=tuple(_ROW.findall(vault.read("index") or "")),
        gone=frozenset(named - here), unreadable=tuple(unreadable),
    )  # fmt: skip


def page(target: str, text: str) -> Page:
    """Return an article as the checks see it."""
    found = article.read(text)
    _, body = article.split(text)
    opened = text.removeprefix("\ufeff").replace("\r\n", "\n").startswith("---\n")
    return Page(
        target=target, title=found.title or target.rpartition("/")[2], names=found.list("aliases"),
        links=tuple(each.target for each in links(body)), words=len(body.split()), size=len(text),
        sources=tuple(plain_source(each) for key in _RESTS_ON for each in found.list(key) if plain_source(each)),
        closed=bool(found.front or not opened or _is_rule(text)),
    )  # fmt: skip


def _is_rule(text: str) -> bool:
    """Tell whether a page that begins with `---` has an end to it after all: an empty frontmatter, or a mere line."""
    lines = text.removeprefix("\ufeff").splitlines()[1:]
    keyed = re.match(r"[A-Za-z_][\w-]*:", lines[0]) if lines else None
    return keyed is None


def plain_source(source: str) -> str:
    """Return the page or session a source names, however it is written."""
    inner = source.strip().removeprefix("[[").removesuffix("]]")
    return re.split(r"[|#]", inner)[0].strip().removesuffix(".md")


def _log(target: str, text: str, compiled: dict[str, dict[str, str]]) -> Log:
    day = target.partition("/")[2]
    hash_ = gate.digest(text)
    known = compiled.get(day, {}).get("hash") if _DAY.fullmatch(target) else hash_
    return Log(
        target=target, hash=hash_, compiled=known, links=tuple(each.target for each in links(text)),
        sessions=tuple(each.session_id for each in daily_log.read(text, day) if each.session_id),
    )  # fmt: skip


def _texts(vault: Vault, unreadable: list[tuple[str, str]], *folders: str) -> Iterator[tuple[str, str]]:
    for target in vault.pages(*folders):
        try:
            text = vault.read(target)
        except (OSError, InvalidInput) as problem:
            unreadable.append((target, f"it cannot be read: {problem}"))
            continue
        if text is not None:
            yield target, text
