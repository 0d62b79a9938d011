"""Read the vault once for the checks: every page and log, and which referenced sessions are gone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engram.errors import InvalidInput
from engram.hub import Hub
from engram.store import sessions
from engram.wiki.checks import SPARSE, LogFacts, PageFacts, VaultView
from engram.wiki.vault import article, daily_log, due_logs, state
from engram.wiki.vault.links import find_links
from engram.wiki.vault.vault import Vault

_ROW = re.compile(r"(?m)^\|[ \t]*\[\[([^\[\]|#\\\n]+)")
_SOURCE_KEYS = ("sources", "consulted", "connects")
_DAY = re.compile(r"daily/\d{4}-\d\d-\d\d")


def load_view(hub: Hub, vault: Vault) -> VaultView:
    """Load a vault into memory."""
    unreadable: list[tuple[str, str]] = []
    pages = [
        parse_page(target, text) for target, text in _read_texts(vault, unreadable, "concepts", "connections", "qa")
    ]
    compiled = state.load_state(vault)["logs"]
    logs = [_parse_log(target, text, compiled) for target, text in _read_texts(vault, unreadable, "daily")]
    session_ids = {session_id for log in logs for session_id in log.sessions}
    session_ids |= {session_id for page_facts in pages for session_id in page_facts.sources if "/" not in session_id}
    with hub.engine.transaction():
        present_ids = sessions.filter_existing(hub.engine, sorted(session_ids))
    return VaultView(
        pages=tuple(pages), logs=tuple(logs), rows=tuple(_ROW.findall(vault.read("index") or "")),
        gone=frozenset(session_ids - present_ids), unreadable=tuple(unreadable),
        ruled=frozenset(page.target for page in pages if page.words < SPARSE and _is_ruled(vault, page.target)),
    )  # fmt: skip


def _is_ruled(vault: Vault, target: str) -> bool:
    return str((state.read_page_record(vault, target) or {}).get("made_by", "")).startswith("rules/")


def parse_page(target: str, text: str) -> PageFacts:
    """Parse an article for the checks."""
    parsed = article.parse_article(text)
    _, body = article.split_frontmatter(text)
    opened = text.removeprefix("\ufeff").replace("\r\n", "\n").startswith("---\n")
    return PageFacts(
        target=target,
        title=parsed.title or target.rpartition("/")[2],
        names=parsed.get_list("aliases"),
        links=tuple(item.target for item in find_links(body)),
        words=len(body.split()),
        size=len(text),
        sources=tuple(
            parse_source(item) for key in _SOURCE_KEYS for item in parsed.get_list(key) if parse_source(item)
        ),
        closed=bool(parsed.front or not opened or _is_horizontal_rule(text)),
    )


def _is_horizontal_rule(text: str) -> bool:
    """Check whether a leading `---` is an empty frontmatter or a horizontal rule, not an unclosed frontmatter."""
    lines = text.removeprefix("\ufeff").splitlines()[1:]
    keyed = re.match(r"[A-Za-z_][\w-]*:", lines[0]) if lines else None
    return keyed is None


def parse_source(source: str) -> str:
    """Return the page or session a source refers to, in any notation."""
    inner = source.strip().removeprefix("[[").removesuffix("]]")
    return re.split(r"[|#]", inner)[0].strip().removesuffix(".md")


def _parse_log(target: str, text: str, compiled: dict[str, dict[str, str]]) -> LogFacts:
    day = target.partition("/")[2]
    hash_ = due_logs.hash_text(text)
    compiled_hash = compiled.get(day, {}).get("hash") if _DAY.fullmatch(target) else hash_
    return LogFacts(
        target=target, hash=hash_, compiled=compiled_hash, links=tuple(item.target for item in find_links(text)),
        sessions=tuple(item.session_id for item in daily_log.parse_entries(text, day) if item.session_id),
    )  # fmt: skip


def _read_texts(vault: Vault, unreadable: list[tuple[str, str]], *folders: str) -> Iterator[tuple[str, str]]:
    for target in vault.iter_pages(*folders):
        try:
            text = vault.read(target)
        except (OSError, InvalidInput) as problem:
            unreadable.append((target, f"cannot be read: {problem}"))
            continue
        if text is not None:
            yield target, text
