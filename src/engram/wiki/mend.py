"""What lint can put right by itself: backlinks, and rows of the index. Nothing that anybody wrote goes."""

from __future__ import annotations

from engram.compiler import record as records
from engram.hub import Hub
from engram.text import one_line
from engram.vault import article, findable, index, state
from engram.vault.article import Article, Section
from engram.vault.links import link
from engram.vault.merge import fingerprint
from engram.vault.vault import Vault
from engram.wiki.checks import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RELATED = "Related Concepts"


def mend(hub: Hub, vault: Vault, findings: list[Finding]) -> tuple[str, ...]:
    """Put right what is safe, and tell it."""
    of = {name: [each for each in findings if each.check == name] for name in ("missing-backlink", "dead-row")}
    unlisted = [each.page for each in findings if each.check == "unlisted"]
    with vault.alone():
        done = [each for each in of["missing-backlink"] if _linked_back(vault, each.page, each.others)]
        dead = [each.page for each in of["dead-row"]]
        index.add_rows(vault, {target: row(vault, target) for target in unlisted}, dead)
    told = [f"{each.page} links back to {', '.join(each.others)}" for each in done]
    told += [f"the index lists {target}" for target in unlisted]
    told += [f"the index no more lists {target}" for target in dead]
    findable.put(hub, vault, [each.page for each in done])
    return tuple(told)


def _linked_back(vault: Vault, target: str, others: tuple[str, ...]) -> bool:
    """Add links to a page; tell whether it could be written."""
    while (seen := vault.read(target)) is not None:
        text = with_links(seen, [(each, _title(vault, each)) for each in others])
        if vault.write(target, text, seen):
            _remember(vault, target, seen, text, others)
            return True
    return False


def with_links(text: str, others: list[tuple[str, str]]) -> str:
    """Return a page with links at the end of its related concepts, all else as it was."""
    page = article.read(text)
    lines = "".join(f"- {link(target, title)}\n" for target, title in others)
    place = next((n for n, each in enumerate(page.sections) if each.heading == RELATED), None)
    sections = list(page.sections)
    if place is None:
        sections = _with_section(sections, lines)
    else:
        held = sections[place]
        tail = held.body[len(held.body.rstrip()) :].lstrip("\n") if not held.body.strip() else "\n"
        before = held.body.rstrip("\n")
        body = f"{before}\n{lines}" if held.body.strip() else f"\n{lines}"
        last = place == len(sections) - 1
        sections[place] = Section(heading=held.heading, body=body + ("" if last else tail), head=_whole(held.head))
    written = article.written(Article(front=page.front, raw=page.raw, sections=tuple(sections)))
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    return mark + (written.replace("\n", "\r\n") if "\r\n" in text else written)


def _with_section(sections: list[Section], lines: str) -> list[Section]:
    """Return sections with a new one, before the sources if the page ends with them."""
    new = Section(heading=RELATED, body=f"\n{lines}\n")
    if sections and sections[-1].heading in ("Sources", "Sources Consulted"):
        return [*sections[:-1], new, sections[-1]]
    if sections:
        last = sections[-1]
        before = last.body.rstrip("\n")
        sections[-1] = Section(heading=last.heading, body=f"{before}\n\n", head=_whole(last.head))
    return [*sections, Section(heading=RELATED, body=f"\n{lines}")]


def _whole(head: str) -> str:
    return head if not head or head.endswith("\n") else f"{head}\n"


def _remember(vault: Vault, target: str, before: str, after: str, others: tuple[str, ...]) -> None:
    """Let a page that was ours stay so: what we added to it is no edit of a person."""
    kept = state.page(vault, target)
    old, new = article.read(before).section(RELATED), article.read(after).section(RELATED)
    if kept is None or not isinstance(kept.get("sections"), dict):
        return
    if old and kept["sections"].get(RELATED) != fingerprint(old):
        return
    kept["sections"][RELATED] = fingerprint(new)
    if "evidence" in kept and "related" in kept:
        for each in others:
            records.relate(kept, each, _title(vault, each), _kind(vault, each), 1)
    state.write(vault, state.page_file(target), kept)


def _kind(vault: Vault, target: str) -> str:
    return str((state.page(vault, target) or {}).get("kind") or "article")


def _title(vault: Vault, target: str) -> str:
    return one_line(article.read(vault.read(target) or "").title, 120)


def row(vault: Vault, target: str) -> str:
    """Return the row of a page that the index lacks, from what the page says."""
    page = article.read(vault.read(target) or "")
    kept: dict[str, Any] = state.page(vault, target) or {}
    summary = kept.get("summary") or page.opening or page.title
    logs = [each.removesuffix(".md") for each in page.list("sources") if each.startswith("daily/")]
    return index.row(target, str(summary), logs, page.get("updated") or page.get("created") or "")
