"""Versioned documents derived from sessions, each with its sources and maker; the newest is searchable."""

from __future__ import annotations

from engram.errors import NotFound, StoreBusy
from engram.platform import text
from engram.store import documents, passages, sessions
from engram.summaries import attribution

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from engram.hub import Hub
    from engram.store.engine import Row

GIST, EXTRACT, ERA, PROFILE, NARRATIVE, SELF = "gist", "extract", "era", "profile", "narrative", "self"
STANDING = "standing"
EVERYTHING = "*"  # in the sources of a text given without sessions
GIVEN, IMPORTED = "given", "import"  # maker, if it was a person or an import
PERSON, MODEL, IMPORT, QUOTES = "person", "model", "import", "extract"
USUAL = {PROFILE: "self", NARRATIVE: "current", SELF: "self"}  # the default key of each kind
_AUTHORS = {GIVEN: PERSON, "model:": MODEL, IMPORTED: IMPORT, "extract/": QUOTES, "rules/": QUOTES}
_TRUST = ("user", "assistant", "tool", "import")  # from most to least
_PASSAGE_CHARS = 1600  # characters of a passage
TRIES = 5
EVERY = 1_000_000  # versions


def format_title(kind: str, key: str) -> str:
    """Return the name of a document; the default one of its kind needs no key."""
    label = "self state" if kind == SELF else kind
    return label if key == USUAL.get(kind) else f"{label} {key}"


def save_version(hub: Hub, kind: str, key: str, content: str, sources: dict[str, Any], made_by: str) -> Row:
    """Add a version and index it; keep the newest one if text and sources are the same."""
    sources_json = dump_sources(sources)
    for _ in range(TRIES):
        with hub.engine.transaction(durable=True):
            _require_sessions(hub, sources.get("sessions"))
            row = add_version(hub, kind, key, content, sources_json, made_by)
            if row is not None:
                if kind != SELF:
                    update_passages(hub, row)
                return row
    raise StoreBusy(store=hub.engine.store, seconds=0)


def _require_sessions(hub: Hub, source_sessions: object) -> None:
    """Raise NotFound if a source session was deleted meanwhile."""
    session_ids = list(source_sessions) if isinstance(source_sessions, list | tuple) else []
    existing = sessions.filter_existing(hub.engine, session_ids)
    for session_id in session_ids:
        if session_id not in existing:
            raise NotFound(kind="session", id=session_id, hint="It was deleted meanwhile. Run the command again.")


def add_version(hub: Hub, kind: str, key: str, content: str, sources: str, made_by: str) -> Row | None:
    """Add a version; None if another writer just added one. Call it inside a transaction."""
    newest = documents.get_current(hub.engine, kind, key)
    if newest and (newest["content"], newest["sources"], newest["made_by"]) == (content, sources, made_by):
        return newest
    previous = newest["version"] if newest else 0
    row = documents.add_version(hub.engine, kind, key, previous + 1, content, made_by, hub.now(), sources)
    if row is not None:
        attribution.record_change(hub, kind, key, row["version"], previous)
    return row


def update_passages(hub: Hub, row: Row) -> None:
    """Index a version in place of the previous one; an empty one is not indexed."""
    sources = load_sources(row["sources"])
    content = strip_exchange_refs(row["content"])
    parts = [content] if row["kind"] == GIST and content else split_passages(content)
    passages.save_parts(
        hub.engine, row["kind"], row["key"], parts, at=int(sources.get("at") or row["made_at"]),
        session_id=sources.get("session"), project=str(sources.get("project") or ""),
    )  # fmt: skip


def strip_exchange_refs(content: str) -> str:
    """Remove the exchange numbers of quotes from a text: nobody searches for them."""
    import re

    return re.sub(r" \((?:#\d{1,19}(?:, )?)+\)$", "", content, flags=re.MULTILINE)


def split_passages(content: str) -> list[str]:
    """Split a text into passages between lines."""
    parts: list[str] = []
    for line in content.splitlines():
        if parts and len(parts[-1]) + len(line) < _PASSAGE_CHARS:
            parts[-1] += f"\n{line}"
        elif line.strip():
            parts.append(line)
    return parts


def get_current(hub: Hub, kind: str, key: str) -> Row | None:
    """Return the newest version, unless it is empty."""
    row = documents.get_current(hub.engine, kind, key)
    return row if row and row["content"] else None


def get_author(row: Row) -> str:
    """Return who wrote a version: a person, a model, an import, or the rules."""
    made_by = str(load_sources(row["sources"]).get("by") or row["made_by"] or "")
    for prefix, author_kind in _AUTHORS.items():
        if made_by.startswith(prefix):
            return author_kind
    return PERSON  # older undo records lack it: treat the text as written by a person


def is_authored(row: Row | None) -> bool:
    """Check whether a person, a model or an import wrote a version: quotes never replace it."""
    return row is not None and bool(row["content"]) and get_author(row) != QUOTES


def get_least_trusted(origins: Iterable[str]) -> str:
    """Return the least trusted of several origins; an unknown one counts as the least."""
    ranks = [_TRUST.index(origin) if origin in _TRUST else len(_TRUST) - 1 for origin in origins]
    return _TRUST[max(ranks, default=0)]


def clean_content(hub: Hub, field: str, content: object, limit: int = text.LINE) -> str:
    """Return a given text, validated and redacted."""
    from engram.redaction.store_redactor import load_hub_redactor

    checked = text.require_text(field, content, "Give some text.", limit)
    return load_hub_redactor(hub).redact(checked).strip()


def fingerprint(facts: object) -> str:
    """Return a fingerprint of these facts."""
    from hashlib import blake2b

    return blake2b(repr(facts).encode("utf-8", "replace_surrogate"), digest_size=12).hexdigest()


def to_json_string(session_id: str) -> str:
    """Return a session id as it appears in stored sources."""
    import orjson

    return orjson.dumps(session_id).decode()


def dump_sources(sources: dict[str, Any]) -> str:
    """Serialize sources."""
    import orjson

    return orjson.dumps(sources, option=orjson.OPT_SORT_KEYS).decode()


def load_sources(sources: str | None) -> dict[str, Any]:
    """Parse stored sources; empty if unreadable."""
    import orjson

    try:
        parsed = orjson.loads(sources or "{}")
    except orjson.JSONDecodeError:
        return {}
    return parsed if isinstance(parsed, dict) else {}
