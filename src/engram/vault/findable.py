"""Articles as they are searched: a passage for each section, also of what people wrote or changed."""

from __future__ import annotations

import os
from bisect import bisect_right

from engram.errors import InvalidInput
from engram.hub import Hub
from engram.redaction.removal import redactor
from engram.store import news, passages
from engram.text import PAGE, clean
from engram.vault import article
from engram.vault.vault import Vault

KIND = "article"
_ASIDE = ("Sources", "Related Concepts", "Sources Consulted")  # say nothing by themselves
_LONGEST = 2_000  # characters of a passage
_TERMS = 60  # words by which articles are looked for
_PARTS = 4  # passages of a page, about


def put(hub: Hub, vault: Vault, targets: list[str]) -> None:
    """Let articles be found as they stand; those that are gone are found no more."""
    if not targets:
        return
    clean_of = redactor(hub)
    said = {target: vault.read(target) for target in targets}
    with hub.engine.transaction():
        for target, text in said.items():
            if text is None:
                passages.drop(hub.engine, KIND, target)
                continue
            at = _changed_at(vault, target) or 0
            passages.put(hub.engine, KIND, target, [clean_of.clean(part) for part in parts(text)], at=at)
            passages.touch(hub.engine, KIND, target, at)
        news.note(hub.engine, news.LINT, said, hub.now())


def parts(text: str) -> list[str]:
    """Return the passages of a page: its sections, each under the title of the page."""
    page = article.read(clean("page", text[: PAGE // 4], PAGE))
    title = page.title
    names = ", ".join([title, *page.list("aliases")])
    found = []
    for section in page.sections:
        body = section.body.strip()
        if body and section.heading not in _ASIDE:
            head = f"{names}: {section.heading}" if section.heading else names
            found += [f"{head}\n{body[start : start + _LONGEST]}" for start in range(0, len(body), _LONGEST)]
    return found


def refresh(hub: Hub, vault: Vault, after: str = "", limit: int | None = None) -> tuple[int, str]:
    """Let articles be found that people wrote, changed or removed; return how many, and where to go on.

    Looked at are the pages after a name, as many as the limit allows; an empty name is the beginning.
    """
    targets = list(vault.pages("concepts", "connections", "qa"))
    start = bisect_right(targets, after) if after else 0
    some = targets[start:] if limit is None else targets[start : start + limit]
    seen = {each: at for each in some if (at := _changed_at(vault, each)) is not None}
    known = passages.times(hub.engine, KIND, list(seen))
    changed = [each for each, at in seen.items() if known.get(each) != at]
    gone = [*(passages.known(hub.engine, KIND).keys() - set(targets))] if limit is None else []
    put(hub, vault, [*changed, *gone])
    return len(changed) + len(gone), "" if start + len(some) >= len(targets) else some[-1]


def relevant(hub: Hub, asked: str, most: int) -> list[str]:
    """Return the articles that have most to do with something, best first.

    By words alone: reading the vectors of ten thousand pages would cost more than all the rest of compiling a log.
    """
    import numpy as np

    from engram.index.index import catch_up
    from engram.index.kinds import KINDS
    from engram.index.lexical import lexical
    from engram.index.shelf import shelf
    from engram.index.words import words

    catch_up(hub)
    held = shelf(hub)
    terms = {word: [word] for word in list(dict.fromkeys(words(asked)))[:_TERMS]}
    scores = lexical(held, terms, held.alive & (held.kinds == KINDS.index(KIND))).docs
    best = np.argsort(-scores, kind="stable")[: most * _PARTS]
    rows = passages.by_id(hub.engine, [int(held.sources[doc]) for doc in best if scores[doc] > 0])
    keys = (rows[int(held.sources[doc])]["key"] for doc in best if int(held.sources[doc]) in rows)
    return list(dict.fromkeys(keys))[:most]


def _changed_at(vault: Vault, target: str) -> int | None:
    """Return when a page was changed; None if it is none of ours to read, or gone."""
    try:
        return os.stat(vault.path(target)).st_mtime_ns // 1000
    except (OSError, InvalidInput):
        return None
