"""Let a model find contradictions between related pages, a few pages at a time.

It sees the pages that changed last, each with those it links to, not the whole wiki.
"""

from __future__ import annotations

from engram.errors import Error
from engram.hub import Hub
from engram.platform.text import escape_inline, quote_as_data
from engram.wiki.checks import WARNING, LintFinding, PageFacts, PageNames, VaultView
from engram.wiki.vault import article
from engram.wiki.vault.vault import Vault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_BATCH_SIZE = 12  # pages
_MAX_CALLS = 3
_MAX_PAGE_CHARS = 1_800  # characters of a page
_SCHEMA = {
    "type": "object", "additionalProperties": False, "required": ["contradictions"],
    "properties": {"contradictions": {"type": "array", "items": {
        "type": "object", "additionalProperties": False, "required": ["pages", "about"],
        "properties": {
            "pages": {"type": "array", "items": {"type": "integer"}}, "about": {"type": "string", "maxLength": 1000},
        },
    }}},
}  # fmt: skip


def find_contradictions(hub: Hub, vault: Vault, view: VaultView) -> tuple[list[LintFinding], str]:
    """Return the contradictions a model finds, and the reason if it could not run."""
    findings: dict[tuple[str, ...], LintFinding] = {}
    for batch in select_batches(vault, view):
        try:
            reply = _ask_model(hub, vault, batch)
        except Error as problem:
            return list(findings.values()), str(problem)
        findings |= {(finding.page, *finding.others): finding for finding in findings_from_reply(reply, batch)}
    return list(findings.values()), ""


def select_batches(vault: Vault, view: VaultView) -> list[list[str]]:
    """Return the pages to compare: the latest changed, each followed by those it links to."""
    names, pages = PageNames(view), {page.target: page for page in view.pages}
    order: dict[str, None] = {}
    for page in sorted(view.pages, key=lambda page: _read_change_time(vault, page), reverse=True):
        order[page.target] = None
        order |= {
            linked_page: None
            for name in page.links
            if (linked_page := names.resolve_link(name)) in pages and linked_page is not None
        }
        if len(order) >= _BATCH_SIZE * _MAX_CALLS:
            break
    chosen = list(order)[: _BATCH_SIZE * _MAX_CALLS]
    batches = [chosen[start : start + _BATCH_SIZE] for start in range(0, len(chosen), _BATCH_SIZE)]
    return [batch for batch in batches if len(batch) > 1]


def findings_from_reply(reply: dict[str, Any], shown_pages: list[str]) -> list[LintFinding]:
    """Convert a model's reply to findings, only about pages it was shown."""
    findings = []
    for claim in reply["contradictions"]:
        claimed_pages = [
            shown_pages[number - 1] for number in dict.fromkeys(claim["pages"]) if 0 < number <= len(shown_pages)
        ]
        if len(claimed_pages) == 2 and claim["about"].strip():
            page, other = sorted(claimed_pages)
            words = f"contradicts {other}: {escape_inline(claim['about'], 300)}"
            findings.append(
                LintFinding(check="contradiction", severity=WARNING, page=page, message=words, others=(other,))
            )  # fmt: skip
    return findings


def _ask_model(hub: Hub, vault: Vault, batch: list[str]) -> Any:
    from engram.capture.batch import redact_nested
    from engram.models.complete import complete
    from engram.redaction.store_redactor import load_hub_redactor
    from engram.summaries.summary_model import load_prompt

    template, _ = load_prompt("contradictions")
    pages = [f"[{n}] {target}\n{_read_beginning(vault, target)}" for n, target in enumerate(batch, 1)]
    reply = complete(
        hub, template.replace("{data}", quote_as_data("\n\n".join(pages))), purpose="contradictions", schema=_SCHEMA
    )  # fmt: skip
    return redact_nested(reply.data, load_hub_redactor(hub))


def _read_beginning(vault: Vault, target: str) -> str:
    return article.split_frontmatter(vault.read(target) or "")[1].strip()[:_MAX_PAGE_CHARS]


def _read_change_time(vault: Vault, page: PageFacts) -> float:
    import os

    try:
        return os.stat(vault.resolve_path(page.target)).st_mtime
    except OSError:
        return 0.0
