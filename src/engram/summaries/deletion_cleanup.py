"""Remove a deleted session from everything derived from it, and nothing else.

Documents made of quotes are deleted and rebuilt from what is left. Documents written by a person or a model lose the
sentences that can only come from this session, in every version. A document that would lose all sentences, or that was
imported, stays unchanged and is reported, as long as it has other source sessions.
"""

from __future__ import annotations

from engram.platform.value import value
from engram.store import documents, dream_inbox, passages, session_gists
from engram.summaries import self_state, versions
from engram.summaries.versions import ERA, EXTRACT, GIST, IMPORT, NARRATIVE, PERSON, PROFILE, QUOTES, SELF, STANDING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from engram.hub import Hub
    from engram.store.engine import Row
    from engram.summaries.distinctive_words import DistinctiveWords

_SHOWN = 5  # words shown
_REFLECTION = "reflection"  # the part of the self state that is derived from sessions


@value
class DeletionEffects:
    """The effects of deleting a session on documents."""

    remade: tuple[str, ...]  # deleted; rebuilt from what is left, if anything is
    changed: tuple[str, ...]  # changed documents, and how much was removed
    kept: tuple[tuple[str, str], ...] = ()  # unchanged documents that have the session as a source: kinds and keys


def remove_from_documents(hub: Hub, session_id: str, distinctive: DistinctiveWords) -> DeletionEffects:
    """Remove a session from every version of every document; call it inside a transaction."""
    for kind in (GIST, EXTRACT):
        documents.delete(hub.engine, kind, session_id)
    passages.delete(hub.engine, GIST, session_id)
    session_gists.delete(hub.engine, session_id)
    dream_inbox.delete_key(hub.engine, session_id)
    for row in documents.find_by_sources(hub.engine, STANDING, versions.to_json_string(session_id)):
        documents.delete(hub.engine, STANDING, row["key"])
    effects = [_remove_from_kind(hub, kind, session_id, distinctive) for kind in (ERA, PROFILE, NARRATIVE)]
    self_changes = _remove_from_self_state(hub, session_id, distinctive)
    return DeletionEffects(
        remade=tuple(name for effect in effects for name in effect.remade),
        changed=tuple(name for effect in effects for name in effect.changed) + self_changes,
        kept=tuple(name for effect in effects for name in effect.kept),
    )  # fmt: skip


def _remove_from_kind(hub: Hub, kind: str, session_id: str, distinctive: DistinctiveWords) -> DeletionEffects:
    newest = documents.list_version_numbers(hub.engine, kind)
    remade: list[str] = []
    changed: dict[str, str] = {}
    unchanged: dict[str, None] = {}
    for row in _find_derived_versions(hub, kind, session_id):
        key, remainder = row["key"], _strip_session(row, session_id, distinctive)
        if remainder.content:
            _rewrite_version(hub, row, remainder.content, session_id)
        else:
            documents.delete(hub.engine, kind, key, row["version"])
        unchanged |= {key: None} if remainder.kept else {}
        if newest[key] == row["version"]:
            remade += [] if remainder.content else [key]
            changed |= (
                {key: f"{versions.format_title(kind, key)} ({versions.get_author(row)}): {remainder.note}"}
                if remainder.note
                else {}
            )
        elif remainder.note and not changed.get(key):
            changed[key] = f"{versions.format_title(kind, key)}: sentences removed from older versions"
    for key in {*remade, *changed}:
        _refresh_passages(hub, kind, key)
    return DeletionEffects(
        remade=tuple(versions.format_title(kind, key) for key in remade),
        changed=tuple(note for key, note in changed.items() if key not in remade),
        kept=tuple((kind, key) for key in unchanged),
    )


def _find_derived_versions(hub: Hub, kind: str, session_id: str) -> list[Row]:
    """Return the versions that have a session among their sources, in full, oldest first."""
    references = documents.find_by_sources(hub.engine, kind, versions.to_json_string(session_id))
    rows = [documents.get(hub.engine, kind, row["key"], row["version"]) for row in references]
    return [row for row in rows if row and session_id in _read_source_sessions(row)]


@value
class _VersionRemainder:
    """A version without the text of a session."""

    content: str  # empty if nothing is left
    note: str = ""  # what was removed
    kept: bool = False  # unchanged, although it may mention the session


def _strip_session(row: Row, session_id: str, distinctive: DistinctiveWords) -> _VersionRemainder:
    author, other_sessions = (
        versions.get_author(row),
        [session for session in _read_source_sessions(row) if session != session_id],
    )
    if author == QUOTES or not (other_sessions or author == PERSON):
        return _VersionRemainder(content="")
    if author == IMPORT:  # it is not recorded which of the sessions imported with it are its sources
        return _VersionRemainder(content=row["content"], kept=True)
    scrubbed = distinctive.scrub_text(row["content"], other_sessions)
    if other_sessions and not scrubbed.content:
        return _VersionRemainder(content=row["content"], kept=True)
    return _VersionRemainder(
        content=scrubbed.content,
        note=f"{scrubbed.removed} of {scrubbed.sentences} sentences removed" if scrubbed.removed else "",
    )


def _rewrite_version(hub: Hub, row: Row, content: str, session_id: str) -> None:
    sources = versions.load_sources(row["sources"])
    sources["sessions"] = [session for session in _read_source_sessions(row) if session != session_id]
    documents.update_version(
        hub.engine, row["kind"], row["key"], row["version"], content, versions.dump_sources(sources)
    )


def _read_source_sessions(row: Row) -> list[str]:
    sessions = versions.load_sources(row["sources"]).get("sessions", ())
    return [sessions] if isinstance(sessions, str) else list(sessions)


def _refresh_passages(hub: Hub, kind: str, key: str) -> None:
    row = documents.get_current(hub.engine, kind, key)
    if row is None:
        passages.delete(hub.engine, kind, key)
    else:
        versions.update_passages(hub, row)


def _remove_from_self_state(hub: Hub, session_id: str, distinctive: DistinctiveWords) -> tuple[str, ...]:
    """Remove a session from the reflections in every version of the self states; nothing else in them comes from it."""
    changed: dict[str, None] = {}
    for row in documents.find_by_text(hub.engine, SELF, versions.to_json_string(session_id)):
        state = self_state.parse_state(row["content"]) or {}
        reflection = state.get(_REFLECTION)
        content = row["content"]
        if isinstance(reflection, dict) and session_id in (reflection.get("sessions") or ()):
            changed[f"{versions.format_title(SELF, row['key'])}: removed from its reflection"] = None
            remainder = _strip_reflection(reflection, session_id, distinctive)
            state = {name: part for name, part in state.items() if name != _REFLECTION}
            content = self_state.dump_state({**state, _REFLECTION: remainder} if remainder else state)
        _rewrite_version(hub, row, content, session_id)
    return tuple(changed)


def _strip_reflection(
    reflection: dict[str, Any], session_id: str, distinctive: DistinctiveWords
) -> dict[str, Any] | None:
    """Return a reflection without what came from a session; None if nothing else is left."""
    other_sessions = [entry for entry in reflection["sessions"] if entry != session_id]
    if not other_sessions:
        return None
    lists = {name: entry for name, entry in reflection.items() if isinstance(entry, list) and name != "sessions"}
    items = [item for entry in lists.values() for item in entry]
    removed_items = [item for item in items if _names_session(item, session_id)]
    extra_words = _collect_words(removed_items) - _collect_words([item for item in items if item not in removed_items])
    kept_lists = {
        name: [
            item
            for item in entry
            if item not in removed_items
            and not distinctive.find_words(_get_item_text(item), other_sessions, extra_words)
        ]
        for name, entry in lists.items()
    }
    narrative = distinctive.scrub_text(str(reflection.get("narrative") or ""), other_sessions, extra_words).content
    return {**reflection, **kept_lists, "narrative": narrative, "sessions": other_sessions}


def _collect_words(items: list[Any]) -> set[str]:
    from engram.index.tokenizer import extract_terms

    return {word for item in items for word in extract_terms(_get_item_text(item))}


def _names_session(item: Any, session_id: str) -> bool:
    return isinstance(item, dict) and session_id in (item.get("sessions") or ())


def _get_item_text(item: Any) -> str:
    return str(item.get("text") or "") if isinstance(item, dict) else str(item)


def find_mentions(hub: Hub, distinctive: DistinctiveWords, unchanged: Collection[tuple[str, str]]) -> tuple[str, ...]:
    """Return unchanged documents that may mention the deleted sessions, with words only those used."""
    rows = [row for kind in (ERA, PROFILE, NARRATIVE, SELF) for row in documents.list_current(hub.engine, kind)]
    mentions = (_describe_mention(hub, row, distinctive, (row["kind"], row["key"]) in unchanged) for row in rows)
    return tuple(filter(None, mentions))


def _describe_mention(hub: Hub, row: Row, distinctive: DistinctiveWords, is_unchanged: bool) -> str:
    """Describe a document if its newest or an older version may mention the sessions."""
    name, words = versions.format_title(row["kind"], row["key"]), _find_telling_words(row, distinctive)
    if not (words or is_unchanged):
        older = documents.list_versions(hub.engine, row["kind"], row["key"], versions.EVERY)[1:]
        words = next(filter(None, (_find_telling_words(version, distinctive) for version in older)), [])
        name = f"{name}, older versions" if words else ""
    return f"{name} ({', '.join(words[:_SHOWN])})" if words else name


def _find_telling_words(row: Row, distinctive: DistinctiveWords) -> list[str]:
    """Return the words of a document that only the deleted sessions used, as written."""
    from engram.index.tokenizer import find_written_words

    telling = distinctive.find_words(row["content"]) if row["kind"] == SELF or versions.is_authored(row) else []
    return find_written_words(row["content"], telling) if telling else []
