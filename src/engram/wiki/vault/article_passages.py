"""Index articles for search: one passage per section, including what people wrote."""

from __future__ import annotations

import os
from bisect import bisect_right

from engram.errors import InvalidInput
from engram.hub import Hub
from engram.platform.text import PAGE, validate_text
from engram.redaction.store_redactor import load_hub_redactor
from engram.store import dream_inbox, passages
from engram.wiki.vault import article
from engram.wiki.vault.vault import Vault

KIND = "article"
_SKIPPED_SECTIONS = ("Sources", "Related Concepts", "Sources Consulted")  # headings that say nothing by themselves
_PASSAGE_CHARS = 2_000  # characters of a passage
_MAX_TERMS = 60  # words of the search for relevant articles
_PASSAGES_PER_PAGE = 4  # average passages of a page


def index_articles(hub: Hub, vault: Vault, targets: list[str]) -> None:
    """Index articles in their current state; remove deleted ones from the index."""
    if not targets:
        return
    redactor_of_store = load_hub_redactor(hub)
    texts = {target: vault.read(target) for target in targets}
    with hub.engine.transaction():
        for target, text in texts.items():
            if text is None:
                passages.delete(hub.engine, KIND, target)
                continue
            at = _read_change_time(vault, target) or 0
            passages.save_parts(
                hub.engine, KIND, target, [redactor_of_store.redact(part) for part in split_passages(text)], at=at
            )
            passages.set_time(hub.engine, KIND, target, at)
        dream_inbox.mark_new(hub.engine, dream_inbox.LINT, texts, hub.now())


def split_passages(text: str) -> list[str]:
    """Split a page into passages: its sections, each under the page's title."""
    page = article.parse_article(validate_text("page", text[: PAGE // 4], PAGE))
    title = page.title
    names = ", ".join([title, *page.get_list("aliases")])
    passages_of_page = []
    for section in page.sections:
        body = section.body.strip()
        if body and section.heading not in _SKIPPED_SECTIONS:
            head = f"{names}: {section.heading}" if section.heading else names
            passages_of_page += [
                f"{head}\n{body[start : start + _PASSAGE_CHARS]}" for start in range(0, len(body), _PASSAGE_CHARS)
            ]
    return passages_of_page


def refresh_articles(hub: Hub, vault: Vault, after: str = "", limit: int | None = None) -> tuple[int, str]:
    """Index articles that people changed or deleted; return how many, and where to continue.

    It checks the pages after a name, up to the limit; an empty name means the start.
    """
    targets = list(vault.iter_pages("concepts", "connections", "qa"))
    start = bisect_right(targets, after) if after else 0
    batch = targets[start:] if limit is None else targets[start : start + limit]
    changed_at = {target: at for target in batch if (at := _read_change_time(vault, target)) is not None}
    indexed_at = passages.fetch_times(hub.engine, KIND, list(changed_at))
    changed = [target for target, at in changed_at.items() if indexed_at.get(target) != at]
    gone = [*(passages.list_documents(hub.engine, KIND).keys() - set(targets))] if limit is None else []
    index_articles(hub, vault, [*changed, *gone])
    return len(changed) + len(gone), "" if start + len(batch) >= len(targets) else batch[-1]


def find_relevant(hub: Hub, query: str, limit: int) -> list[str]:
    """Return the articles most relevant to a text, best first.

    It uses words only: reading the vectors of ten thousand pages would cost more than compiling a log.
    """
    import numpy as np

    from engram.index.doc_kinds import KINDS
    from engram.index.lexical import score_keywords
    from engram.index.maintenance import index_recent
    from engram.index.snapshot import load_snapshot
    from engram.index.tokenizer import extract_terms

    index_recent(hub)
    snapshot = load_snapshot(hub)
    terms = {word: [word] for word in list(dict.fromkeys(extract_terms(query)))[:_MAX_TERMS]}
    scores = score_keywords(snapshot, terms, snapshot.alive & (snapshot.kinds == KINDS.index(KIND))).docs
    best = np.argsort(-scores, kind="stable")[: limit * _PASSAGES_PER_PAGE]
    rows = passages.fetch_by_ids(hub.engine, [int(snapshot.sources[doc]) for doc in best if scores[doc] > 0])
    keys = (rows[int(snapshot.sources[doc])]["key"] for doc in best if int(snapshot.sources[doc]) in rows)
    return list(dict.fromkeys(keys))[:limit]


def _read_change_time(vault: Vault, target: str) -> int | None:
    """Return when a page was changed; None if it is gone or not ours to read."""
    try:
        return os.stat(vault.resolve_path(target)).st_mtime_ns // 1000
    except (OSError, InvalidInput):
        return None
