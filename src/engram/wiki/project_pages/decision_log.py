"""The decision log of a project: what was decided when, and what became of it."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

from engram.evidence import lasting
from engram.evidence.decision_text import describe_decision
from engram.platform.text import format_count
from engram.wiki.project_pages.decision_entries import IN_FORCE, REJECTED, SUPERSEDED, DecisionEntry
from engram.wiki.project_pages.line_sources import EntryLinks, LineSources
from engram.wiki.project_pages.page_draft import DECISIONS, PROJECT, PageDraft
from engram.wiki.vault.page_text import quote_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_LEAST = 4  # decisions worth a page of their own
_MOST = 300  # lines of a page
_LONGEST, _ABOUT = 400, 160  # characters
_MONTHS = "January February March April May June July August September October November December".split()


def build_decision_log(name: str, decisions: Sequence[DecisionEntry], links: EntryLinks) -> PageDraft | None:
    """Build the decision log of a project, newest first, one section for each month."""
    if len(decisions) < _LEAST:
        return None
    sources = LineSources(links)
    months = groupby(decisions[:_MOST], key=lambda entry: links.format_day(entry.at)[:7])
    sections = [
        (_format_month(month), tuple(_write_entry(entry, sources) for entry in group)) for month, group in months
    ]
    if len(decisions) > _MOST:
        older = len(decisions) - _MOST
        sections.append(("Older", (f"{format_count(older, 'older decision')}: search them with `engram recall`.",)))
    counts = Counter(entry.status for entry in decisions)
    counted = ", ".join(f"{counts[status]} {status}" for status in (IN_FORCE, SUPERSEDED, REJECTED) if counts[status])
    states = ", all in force" if set(counts) == {IN_FORCE} else f": {counted}"
    total = f"{format_count(len(decisions), 'decision')}{states}"
    return PageDraft(
        kind=DECISIONS, key=DECISIONS, title=f"Decisions of {name}", file_title=f"{name} decisions",
        summary=f"{total}; last: {quote_line(decisions[0].text, 120)}", top=f"{total}. Newest first.",
        sections=tuple(sections), sources=sources.names, days=sources.days, related=(PROJECT,),
    )  # fmt: skip


def _format_month(month: str) -> str:
    return f"{_MONTHS[int(month[5:]) - 1]} {month[:4]}"


def _write_entry(entry: DecisionEntry, sources: LineSources) -> str:
    about = f" In answer to: {quote_line(entry.about, _ABOUT)}." if lasting.names_something(entry.about) else ""
    status = entry.status
    if entry.successor:
        status = f"superseded on {sources.format_day(entry.succeeded_at)} by {quote_line(entry.successor, _ABOUT)}"
    text = quote_line(describe_decision(entry.text), _LONGEST)
    return f"- {sources.cite(entry.session_id, entry.at)}, {status}: {text}{about}"
