"""What is made of sessions, kept version by version: each knows its sources and its maker, and the newest is found."""

from __future__ import annotations

from engram import text
from engram.errors import NotFound, StoreBusy
from engram.memory import attribution
from engram.store import documents, passages, sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from engram.hub import Hub
    from engram.store.engine import Row

GIST, EXTRACT, ERA, PROFILE, NARRATIVE, SELF = "gist", "extract", "era", "profile", "narrative", "self"
STANDING = "standing"
EVERYTHING = "*"  # in the sources of what somebody gave without naming any
GIVEN, IMPORTED = "given", "import"  # who made it, where somebody else did
PERSON, MODEL, IMPORT, QUOTES = "person", "model", "import", "extract"
_AUTHORS = {GIVEN: PERSON, "model:": MODEL, IMPORTED: IMPORT, "extract/": QUOTES, "rules/": QUOTES}
_TRUST = ("user", "assistant", "tool", "import")  # from most to least
_PART = 1600  # characters of a passage
TRIES = 5


def put(hub: Hub, kind: str, key: str, content: str, sources: dict[str, Any], made_by: str) -> Row:
    """Add a version and make it what is found; the newest one stays if it says the same of the same sources."""
    facts = dumped(sources)
    for _ in range(TRIES):
        with hub.engine.transaction(durable=True):
            _require(hub, sources.get("sessions"))
            row = add(hub, kind, key, content, facts, made_by)
            if row is not None:
                if kind != SELF:
                    show(hub, row)
                return row
    raise StoreBusy(store=hub.engine.store, seconds=0)


def _require(hub: Hub, named: object) -> None:
    """Refuse what is made of a session that was deleted while it was made."""
    wanted = list(named) if isinstance(named, list | tuple) else []
    here = sessions.those_here(hub.engine, wanted)
    for each in wanted:
        if each not in here:
            raise NotFound(kind="session", id=each, hint="It was deleted meanwhile; run it again.")


def add(hub: Hub, kind: str, key: str, content: str, sources: str, made_by: str) -> Row | None:
    """Add a version; None when another writer added one this very moment. Call inside a transaction."""
    known = documents.current(hub.engine, kind, key)
    if known and (known["content"], known["sources"], known["made_by"]) == (content, sources, made_by):
        return known
    before = known["version"] if known else 0
    row = documents.add(hub.engine, kind, key, before + 1, content, made_by, hub.now(), sources)
    if row is not None:
        attribution.note(hub, kind, key, row["version"], before)
    return row


def show(hub: Hub, row: Row) -> None:
    """Let a version be found in the place of the one before; an empty one is not found."""
    facts = loaded(row["sources"])
    content = without_places(row["content"])
    parts = [content] if row["kind"] == GIST and content else pieces(content)
    passages.put(
        hub.engine, row["kind"], row["key"], parts, at=int(facts.get("at") or row["made_at"]),
        session_id=facts.get("session"), project=str(facts.get("project") or ""),
    )  # fmt: skip


def without_places(content: str) -> str:
    """Return a text without the numbers of the exchanges its lines quote, which nobody searches for."""
    import re

    return re.sub(r" \((?:#\d{1,19}(?:, )?)+\)$", "", content, flags=re.MULTILINE)


def pieces(content: str) -> list[str]:
    """Return a text in parts that can be found, cut between lines."""
    found: list[str] = []
    for line in content.splitlines():
        if found and len(found[-1]) + len(line) < _PART:
            found[-1] += f"\n{line}"
        elif line.strip():
            found.append(line)
    return found


def current(hub: Hub, kind: str, key: str) -> Row | None:
    """Return the newest version, unless it was emptied."""
    row = documents.current(hub.engine, kind, key)
    return row if row and row["content"] else None


def author(row: Row) -> str:
    """Return who wrote a version: a person, a model, an import, or the rules that quote."""
    made_by = str(loaded(row["sources"]).get("by") or row["made_by"] or "")
    for start, who in _AUTHORS.items():
        if made_by.startswith(start):
            return who
    return PERSON  # an older undo did not note it: what may be somebody's words is treated so


def is_written(row: Row | None) -> bool:
    """Tell whether a version says what a person, a model or an import wrote: quotes never take its place."""
    return row is not None and bool(row["content"]) and author(row) != QUOTES


def trust(origins: Iterable[str]) -> str:
    """Return the least trusted of several origins; an unknown one counts as the least."""
    ranks = [_TRUST.index(each) if each in _TRUST else len(_TRUST) - 1 for each in origins]
    return _TRUST[max(ranks, default=0)]


def fit(hub: Hub, field: str, content: object, limit: int = text.LINE) -> str:
    """Return a text somebody gives, fit to be stored and without secrets."""
    from engram.redaction.removal import redactor

    said = text.required(field, content, "Say something.", limit)
    return redactor(hub).clean(said).strip()


def fingerprint(facts: object) -> str:
    """Return what tells these facts from any others."""
    from hashlib import blake2b

    return blake2b(repr(facts).encode("utf-8", "replace_surrogate"), digest_size=12).hexdigest()


def quoted(session_id: str) -> str:
    """Return a session's id as it stands in stored sources."""
    import orjson

    return orjson.dumps(session_id).decode()


def dumped(sources: dict[str, Any]) -> str:
    """Return sources as they are stored."""
    import orjson

    return orjson.dumps(sources, option=orjson.OPT_SORT_KEYS).decode()


def loaded(sources: str | None) -> dict[str, Any]:
    """Return stored sources; nothing for those nobody can read."""
    import orjson

    try:
        found = orjson.loads(sources or "{}")
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}
