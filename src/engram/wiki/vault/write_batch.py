"""A batch of writes to the vault that happens completely and once, even after a crash.

The batch is first written to `.engram/journal.json`, then applied in steps that can be repeated safely; then the
journal is deleted. The next run finishes a journal that is left.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Any

from engram.hub import Hub
from engram.platform.value import value
from engram.wiki.vault import article, article_passages, history, index_page, page_snapshots, state
from engram.wiki.vault.merge import LastWrite, MergeResult, merge
from engram.wiki.vault.vault import Vault

JOURNAL = "journal.json"
_RULES_PREFIX = "rules/"


@value
class PageWrite:
    """A page to write; edits by people are merged when it is written."""

    target: str
    text: str | None  # None to keep the page and change only its record
    made_by: str = ""
    summary: str = ""
    sources: tuple[str, ...] = ()
    record: dict[str, Any] = {}  # noqa: RUF012  what else is kept beside it
    gone: bool = False  # no text is left: delete the page unless a person edited it
    anew: bool = False  # write it even if a person deleted the page


@value
class BatchResult:
    """The result of a batch of writes."""

    created: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    kept: dict[str, list[str]] = {}  # noqa: RUF012  pages and the sections left to who edited them


def commit_writes(
    hub: Hub, vault: Vault, writes: list[PageWrite], *, what: str, subject: str, at: str,
    files: dict[str, Any] | None = None, patch: dict[str, Any] | None = None, again: Collection[str] = (),
) -> BatchResult:  # fmt: skip
    """Apply a batch of page writes with our own files and state changes, and record it in `log.md`.

    Versions of pages rewritten within one run are not kept: nobody saw them.
    """
    for write in writes:
        vault.resolve_path(write.target)
    journal = {
        "writes": [vars(write) for write in writes], "what": what, "subject": subject, "at": at, "files": files or {},
        "patch": patch or {}, "again": sorted(again),
    }  # fmt: skip
    with vault.hold_lock():
        unfinished = state.read_file(vault, JOURNAL)
        if unfinished:  # left by a process that died
            _apply_journal(hub, vault, unfinished)
        # Decide now what will have changed, so that another process that finishes the batch reports the same.
        plans = {write.target: preview_write(vault, write) for write in writes}
        journal["created"] = [target for target, (before, after) in plans.items() if before is None and after]
        journal["updated"] = [
            target for target, (before, after) in plans.items() if before and after and before != after
        ]
        page_snapshots.save_snapshots(hub, vault, plans)
        state.write_file(vault, JOURNAL, journal)
        return _apply_journal(hub, vault, journal)


def finish_journal(hub: Hub, vault: Vault) -> BatchResult | None:
    """Finish the journal of an earlier process; None if there is none."""
    if not has_journal(vault):
        return None
    with vault.hold_lock():
        journal = state.read_file(vault, JOURNAL)
        return _apply_journal(hub, vault, journal) if journal else None


def has_journal(vault: Vault) -> bool:
    """Check whether an earlier process died and left a journal."""
    return os.path.exists(os.path.join(vault.own_dir, JOURNAL))


def preview_write(vault: Vault, write: PageWrite) -> tuple[str | None, str | None]:
    """Return the current and the new text of a page."""
    current_text = vault.read(write.target)
    merged = _merge_page(vault, write, current_text)
    if merged is None:
        return current_text, None if _is_removable(vault, write, current_text) else current_text
    return current_text, merged.text


def last_write_from_record(record: dict[str, Any] | None) -> LastWrite:
    """Return what we last wrote to a page, from its record."""
    if record is None or not isinstance(record.get("sections"), dict) or not isinstance(record.get("front"), dict):
        return LastWrite.empty()
    return LastWrite(sections=record["sections"], front=record["front"])


def _apply_journal(hub: Hub, vault: Vault, journal: dict[str, Any]) -> BatchResult:
    writes = [PageWrite(**{**item, "sources": tuple(item["sources"])}) for item in journal["writes"]]
    stamp = journal["at"]
    again = journal.get("again", ())
    outcomes = {write.target: _write_page(vault, write, stamp, again) for write in writes}
    for name, content in journal["files"].items():
        state.write_file(vault, name, content)
    written_pages = [write for write in writes if outcomes[write.target][0] == "written"]
    gone = [target for target, (how, _) in outcomes.items() if how in ("removed", "absent")]
    rows = {
        item.target: index_page.format_row(
            item.target, item.summary, item.sources, str(item.record.get("last") or stamp[:10])
        )
        for item in written_pages
    }
    index_page.write_rows(vault, rows, gone)
    applied = _summarize_batch(outcomes, journal)
    lines = {"Created": applied.created, "Updated": applied.updated, "Removed": applied.removed}
    if any(lines.values()):
        index_page.append_log(vault, index_page.format_log_entry(stamp, journal["what"], journal["subject"], lines))
    history.clear_withdrawn(vault, journal["subject"], [*rows, *gone])
    article_passages.index_articles(hub, vault, [*rows, *gone])
    _patch_state(vault, journal["patch"])
    os.remove(os.path.join(vault.own_dir, JOURNAL))
    return applied


def _summarize_batch(outcomes: dict[str, tuple[str, tuple[str, ...]]], journal: dict[str, Any]) -> BatchResult:
    written = {target for target, (outcome, _) in outcomes.items() if outcome == "written"}
    return BatchResult(
        created=tuple(target_written for target_written in journal["created"] if target_written in written),
        updated=tuple(target_written for target_written in journal["updated"] if target_written in written),
        removed=tuple(target for target, (outcome, _) in outcomes.items() if outcome == "removed"),
        kept={target: list(headings) for target, (_, headings) in outcomes.items() if headings},
    )  # fmt: skip


def _write_page(vault: Vault, write: PageWrite, stamp: str, again: Collection[str]) -> tuple[str, tuple[str, ...]]:
    """Write one page and its record; return what was done, and what was left to people."""
    while True:
        current_text = vault.read(write.target)
        merged = _merge_page(vault, write, current_text)
        if merged is None:
            return _remove_or_keep_page(vault, write, current_text, stamp)
        if merged.text != current_text:
            _save_older_version(vault, write, current_text, stamp, again)
            if not vault.write(write.target, merged.text, current_text):
                continue  # a person saved it at this moment
        _save_record(vault, write, merged.known)
        return "written", merged.kept


def _merge_page(vault: Vault, write: PageWrite, current_text: str | None) -> MergeResult | None:
    """Return the merged page; None if it must not be written."""
    saved = state.read_page_record(vault, write.target)
    removed = current_text is None and saved is not None and not write.anew
    if write.text is None or write.gone or removed:
        return None
    return merge(write.text, current_text, last_write_from_record(saved))


def _remove_or_keep_page(
    vault: Vault, write: PageWrite, current_text: str | None, stamp: str
) -> tuple[str, tuple[str, ...]]:  # fmt: skip
    """Remove a page that has nothing left to tell, keeping its text as a version, or leave it to who edited it."""
    saved = state.read_page_record(vault, write.target)
    if _is_removable(vault, write, current_text):
        if current_text is not None and not history.is_withdrawn(vault, write.target):
            history.save_version(vault, write.target, current_text, stamp, by_rules=True)
        vault.remove(write.target)
        current_text = None
    if write.gone and current_text is None:
        if saved is not None:
            os.remove(os.path.join(vault.own_dir, state.page_record_path(write.target)))
        return "removed", ()
    _save_record(vault, write, last_write_from_record(saved))
    return "left" if current_text is not None else "absent", ()


def _is_removable(vault: Vault, write: PageWrite, current_text: str | None) -> bool:
    """Check whether a page is to be removed and nobody else wrote in it."""
    saved = state.read_page_record(vault, write.target)
    return write.gone and current_text is not None and _is_all_ours(current_text, last_write_from_record(saved))


def _is_all_ours(text: str, last_write: LastWrite) -> bool:
    from engram.wiki.vault.merge import fingerprint_text

    page = article.parse_article(text)
    return all(last_write.sections.get(section.heading) == fingerprint_text(section.body) for section in page.sections)


def _save_record(vault: Vault, write: PageWrite, last_write: LastWrite) -> None:
    facts = {**write.record, "made_by": write.made_by, "sections": last_write.sections, "front": last_write.front}
    state.write_file(vault, state.page_record_path(write.target), facts)


def _save_older_version(
    vault: Vault, write: PageWrite, current_text: str | None, stamp: str, again: Collection[str]
) -> None:
    """Save the version that is about to be replaced, unless it may quote deleted sessions."""
    if current_text is None or history.is_withdrawn(vault, write.target):
        return
    before = (state.read_page_record(vault, write.target) or {}).get("made_by", "")
    ruled = before.startswith(_RULES_PREFIX) and write.made_by.startswith(_RULES_PREFIX)
    if not (ruled and write.target in again):
        history.save_version(vault, write.target, current_text, stamp, by_rules=ruled)


def _patch_state(vault: Vault, patch: dict[str, Any]) -> None:
    """Update the state, keeping the keys of others."""
    saved_state = state.load_state(vault)
    for name, facts in patch.items():
        saved_state[name] = (
            {**saved_state[name], **facts}
            if isinstance(facts, dict) and isinstance(saved_state.get(name), dict)
            else facts
        )
    state.write_file(vault, state.STATE, saved_state, readable=True)
