"""Fixes that lint can apply: backlinks and index rows. Nothing that people wrote is removed."""

from __future__ import annotations

from engram.hub import Hub
from engram.platform.text import to_one_line
from engram.wiki.checks import LintFinding
from engram.wiki.vault import article, article_passages, index_page, state
from engram.wiki.vault.article import Article, Section
from engram.wiki.vault.links import format_link
from engram.wiki.vault.merge import fingerprint_text
from engram.wiki.vault.vault import Vault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RELATED = "Related Concepts"


def apply_fixes(hub: Hub, vault: Vault, findings: list[LintFinding]) -> tuple[str, ...]:
    """Apply the safe fixes; return their descriptions."""
    findings_by_check = {
        name: [finding for finding in findings if finding.check == name] for name in ("missing-backlink", "dead-row")
    }
    unlisted = [finding.page for finding in findings if finding.check == "unlisted"]
    with vault.hold_lock():
        fixed_findings = [
            finding
            for finding in findings_by_check["missing-backlink"]
            if _add_backlinks(vault, finding.page, finding.others)
        ]
        dead = [finding.page for finding in findings_by_check["dead-row"]]
        index_page.write_rows(vault, {target: build_index_row(vault, target) for target in unlisted}, dead)
    messages = [f"{finding.page}: added links back to {', '.join(finding.others)}" for finding in fixed_findings]
    messages += [f"index: added {target}" for target in unlisted]
    messages += [f"index: removed {target}" for target in dead]
    article_passages.index_articles(hub, vault, [finding.page for finding in fixed_findings])
    return tuple(messages)


def _add_backlinks(vault: Vault, target: str, others: tuple[str, ...]) -> bool:
    """Add links to a page; return whether it was written."""
    while (current_text := vault.read(target)) is not None:
        text = append_related_links(current_text, [(other, _read_title(vault, other)) for other in others])
        if vault.write(target, text, current_text):
            _record_own_edit(vault, target, current_text, text, others)
            return True
    return False


def append_related_links(text: str, others: list[tuple[str, str]]) -> str:
    """Append links to the related concepts of a page; leave the rest as it is."""
    page = article.parse_article(text)
    lines = "".join(f"- {format_link(target, title)}\n" for target, title in others)
    position = next((n for n, existing in enumerate(page.sections) if existing.heading == RELATED), None)
    sections = list(page.sections)
    if position is None:
        sections = _insert_related_section(sections, lines)
    else:
        section = sections[position]
        tail = section.body[len(section.body.rstrip()) :].lstrip("\n") if not section.body.strip() else "\n"
        before = section.body.rstrip("\n")
        body = f"{before}\n{lines}" if section.body.strip() else f"\n{lines}"
        last = position == len(sections) - 1
        sections[position] = Section(
            heading=section.heading,
            body=body + ("" if last else tail),
            heading_line=_end_with_newline(section.heading_line),
        )
    written = article.to_markdown(Article(front=page.front, raw=page.raw, sections=tuple(sections)))
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    return mark + (written.replace("\n", "\r\n") if "\r\n" in text else written)


def _insert_related_section(sections: list[Section], lines: str) -> list[Section]:
    """Insert a new section, before the sources if the page ends with them."""
    new = Section(heading=RELATED, body=f"\n{lines}\n")
    if sections and sections[-1].heading in ("Sources", "Sources Consulted"):
        return [*sections[:-1], new, sections[-1]]
    if sections:
        last = sections[-1]
        before = last.body.rstrip("\n")
        sections[-1] = Section(
            heading=last.heading, body=f"{before}\n\n", heading_line=_end_with_newline(last.heading_line)
        )
    return [*sections, Section(heading=RELATED, body=f"\n{lines}")]


def _end_with_newline(head: str) -> str:
    return head if not head or head.endswith("\n") else f"{head}\n"


def _record_own_edit(vault: Vault, target: str, before: str, after: str, others: tuple[str, ...]) -> None:
    """Record our own addition, so that it does not count as an edit by a person."""
    saved = state.read_page_record(vault, target)
    old, new = article.parse_article(before).get_section(RELATED), article.parse_article(after).get_section(RELATED)
    if saved is None or not isinstance(saved.get("sections"), dict):
        return
    if old and saved["sections"].get(RELATED) != fingerprint_text(old):
        return
    saved["sections"][RELATED] = fingerprint_text(new)
    if str(saved.get("made_by", "")).startswith("rules/"):  # so that the page keeps them when it is made again
        saved["linked_from"] = (saved.get("linked_from") or {}) | {other: _read_title(vault, other) for other in others}
    state.write_file(vault, state.page_record_path(target), saved)


def _read_title(vault: Vault, target: str) -> str:
    return to_one_line(article.parse_article(vault.read(target) or "").title, 120)


def build_index_row(vault: Vault, target: str) -> str:
    """Build the missing index row of a page."""
    page = article.parse_article(vault.read(target) or "")
    saved: dict[str, Any] = state.read_page_record(vault, target) or {}
    summary = saved.get("summary") or page.opening or page.title
    logs = [source.removesuffix(".md") for source in page.get_list("sources") if source.startswith("daily/")]
    return index_page.format_row(target, str(summary), logs, page.get("updated") or page.get("created") or "")
