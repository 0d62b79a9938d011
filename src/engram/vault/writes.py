"""A set of writes into the vault: all of it happens, once, whatever dies in between.

What is to be done is first written down whole, in `.engram/journal.json`. Then it is done, each step so that doing it
again changes nothing; then the journal goes. Whoever comes next finishes what a journal still says.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Any

from engram.hub import Hub
from engram.value import value
from engram.vault import article, findable, history, images, index, state
from engram.vault.merge import Known, Merged, merge
from engram.vault.vault import Vault

JOURNAL = "journal.json"
_RULES = "rules/"


@value
class Write:
    """One page as we would have it; what people wrote into it is seen to when it is written."""

    target: str
    text: str | None  # None: the page stays as it is, only what we know of it changes
    made_by: str = ""
    summary: str = ""
    sources: tuple[str, ...] = ()
    record: dict[str, Any] = {}  # noqa: RUF012  what else is kept beside it
    gone: bool = False  # nothing is left to say: the page goes, unless somebody wrote into it
    anew: bool = False  # also where somebody removed the page


@value
class Applied:
    """What came of a set of writes."""

    created: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    kept: dict[str, list[str]] = {}  # noqa: RUF012  pages and the sections left to who edited them


def commit(
    hub: Hub, vault: Vault, writes: list[Write], *, what: str, subject: str, at: str,
    files: dict[str, Any] | None = None, patch: dict[str, Any] | None = None, again: Collection[str] = (),
) -> Applied:  # fmt: skip
    """Carry a set of writes out, with files of our own and changes of the state; note it in `log.md`.

    Pages that are written again in one run have nothing that is worth keeping: nobody saw it.
    """
    for each in writes:
        vault.path(each.target)
    journal = {
        "writes": [vars(each) for each in writes], "what": what, "subject": subject, "at": at, "files": files or {},
        "patch": patch or {}, "again": sorted(again),
    }  # fmt: skip
    with vault.alone():
        left = state.read(vault, JOURNAL)
        if left:  # by a process that died
            _apply(hub, vault, left)
        # What will have changed is settled now: finished by another process, it is told just the same.
        plans = {each.target: planned(vault, each) for each in writes}
        journal["created"] = [target for target, (before, after) in plans.items() if before is None and after]
        journal["updated"] = [target for target, (before, after) in plans.items() if before and before != after]
        images.keep(hub, vault, plans)
        state.write(vault, JOURNAL, journal)
        return _apply(hub, vault, journal)


def finish(hub: Hub, vault: Vault) -> Applied | None:
    """Finish what an earlier process wrote down and could not do; None if nothing was left."""
    if not is_unfinished(vault):
        return None
    with vault.alone():
        journal = state.read(vault, JOURNAL)
        return _apply(hub, vault, journal) if journal else None


def is_unfinished(vault: Vault) -> bool:
    """Tell whether an earlier process wrote down what it would do, and died before it was done."""
    return os.path.exists(os.path.join(vault.own, JOURNAL))


def planned(vault: Vault, write: Write) -> tuple[str | None, str | None]:
    """Return what a page says and what it would say."""
    seen = vault.read(write.target)
    merged = _merged(vault, write, seen)
    return seen, seen if merged is None else merged.text


def known(record: dict[str, Any] | None) -> Known:
    """Return what we last wrote into a page, by what is kept beside it."""
    if record is None or not isinstance(record.get("sections"), dict) or not isinstance(record.get("front"), dict):
        return Known.nothing()
    return Known(sections=record["sections"], front=record["front"])


def _apply(hub: Hub, vault: Vault, journal: dict[str, Any]) -> Applied:
    writes = [Write(**{**each, "sources": tuple(each["sources"])}) for each in journal["writes"]]
    stamp = journal["at"]
    again = journal.get("again", ())
    done = {write.target: _page(vault, write, stamp, again) for write in writes}
    for name, content in journal["files"].items():
        state.write(vault, name, content)
    there = [write for write in writes if done[write.target][0] == "written"]
    gone = [target for target, (how, _) in done.items() if how in ("removed", "absent")]
    rows = {
        each.target: index.row(each.target, each.summary, each.sources, str(each.record.get("last") or stamp[:10]))
        for each in there
    }  # fmt: skip
    index.add_rows(vault, rows, gone)
    applied = _told(done, journal)
    lines = {"Created": applied.created, "Updated": applied.updated, "Removed": applied.removed}
    if any(lines.values()):
        index.add_log(vault, index.log_entry(stamp, journal["what"], journal["subject"], lines))
    history.settle(vault, journal["subject"], rows)
    findable.put(hub, vault, [*rows, *gone])
    _patch(vault, journal["patch"])
    os.remove(os.path.join(vault.own, JOURNAL))
    return applied


def _told(done: dict[str, tuple[str, tuple[str, ...]]], journal: dict[str, Any]) -> Applied:
    written = {target for target, (how, _) in done.items() if how == "written"}
    return Applied(
        created=tuple(each for each in journal["created"] if each in written),
        updated=tuple(each for each in journal["updated"] if each in written),
        removed=tuple(target for target, (how, _) in done.items() if how == "removed"),
        kept={target: list(kept) for target, (_, kept) in done.items() if kept},
    )  # fmt: skip


def _page(vault: Vault, write: Write, stamp: str, again: Collection[str]) -> tuple[str, tuple[str, ...]]:
    """Write one page and what we know of it; return what was done, and what was left to people."""
    while True:
        seen = vault.read(write.target)
        merged = _merged(vault, write, seen)
        if merged is None:
            return _without_text(vault, write, seen)
        if merged.text != seen:
            _keep_older(vault, write, seen, stamp, again)
            if not vault.write(write.target, merged.text, seen):
                continue  # somebody saved it this very moment
        _remember(vault, write, merged.known)
        return "written", merged.kept


def _merged(vault: Vault, write: Write, seen: str | None) -> Merged | None:
    """Return a page as it is to be written; None if it is not to be."""
    kept = state.page(vault, write.target)
    removed = seen is None and kept is not None and not write.anew
    if write.text is None or write.gone or removed:
        return None
    return merge(write.text, seen, known(kept))


def _without_text(vault: Vault, write: Write, seen: str | None) -> tuple[str, tuple[str, ...]]:
    kept = state.page(vault, write.target)
    if write.gone and seen is not None and _all_ours(seen, known(kept)):
        vault.remove(write.target)
        history.drop(vault, write.target)
        seen = None
    if write.gone and seen is None:
        if kept is not None:
            os.remove(os.path.join(vault.own, state.page_file(write.target)))
        return "removed", ()
    _remember(vault, write, known(kept))
    return "left" if seen is not None else "absent", ()


def _all_ours(text: str, ours: Known) -> bool:
    from engram.vault.merge import fingerprint

    page = article.read(text)
    return all(ours.sections.get(each.heading) == fingerprint(each.body) for each in page.sections)


def _remember(vault: Vault, write: Write, ours: Known) -> None:
    facts = {**write.record, "made_by": write.made_by, "sections": ours.sections, "front": ours.front}
    state.write(vault, state.page_file(write.target), facts)


def _keep_older(vault: Vault, write: Write, seen: str | None, stamp: str, again: Collection[str]) -> None:
    """Keep the version of a page that is about to be replaced, unless it may quote what was deleted."""
    if seen is None or history.is_withdrawn(vault, write.target):
        return
    before = (state.page(vault, write.target) or {}).get("made_by", "")
    ruled = before.startswith(_RULES) and write.made_by.startswith(_RULES)
    if not (ruled and write.target in again):
        history.keep(vault, write.target, seen, stamp, by_rules=ruled)


def _patch(vault: Vault, patch: dict[str, Any]) -> None:
    """Change the state, and leave alone what others keep in it."""
    held = state.load(vault)
    for name, facts in patch.items():
        held[name] = {**held[name], **facts} if isinstance(facts, dict) and isinstance(held.get(name), dict) else facts
    state.write(vault, state.STATE, held, readable=True)
