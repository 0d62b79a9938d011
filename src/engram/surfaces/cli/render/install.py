"""`engram init` and `engram doctor` as text for people."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from engram.capture.ingest_report import Ingested
from engram.install.agents import require_agent
from engram.install.finding import Finding
from engram.install.init import RewrittenFile, WiringReport
from engram.models.offers import FREE, PLAN, ModelOffer
from engram.platform import text
from engram.summaries.model_estimate import ModelEstimate
from engram.summaries.playbook.highlights import Highlight
from engram.surfaces.cli.render import LIST_RENDERERS, render
from engram.surfaces.cli.render.captures import format_ingested_counts
from engram.surfaces.cli.render.layout import (
    Column,
    color_diff_line,
    format_money,
    format_table,
    format_tokens,
    format_when,
    shorten_home,
    wrap_text,
)
from engram.surfaces.cli.render.session_list import OUTCOME_MARKS
from engram.surfaces.cli.terminal import style
from engram.types import Capture

_LEVEL_SIGNS = {"ok": ("✓", "green"), "warning": ("⚠", "yellow"), "problem": ("✗", "red")}
_MAX_PLUGIN_LINES = 12  # lines shown of a plugin, which is a program
_MIN_LISTED_FILES = 2  # number of files from which a list follows their diffs


@render.register
def _(wired: WiringReport) -> str:
    return "\n\n".join(part for part in (format_agents(wired), format_changes(wired)) if part)


def format_agents(wired: WiringReport) -> str:
    """Return which agents were found and which were not."""
    if not wired.program:
        return ""
    here = ", ".join(require_agent(flavor).title for flavor in wired.agents) or "none"
    lines = [wrap_text(f"Agents found: {here}.")]
    if wired.absent:
        missing = ", ".join(require_agent(flavor).title for flavor in wired.absent)
        lines.append(style(wrap_text(f"Not found: {missing}."), dim=True))
    return "\n".join(lines)


def format_changes(wired: WiringReport) -> str:
    """Return the diff of every file, a list of the files, and notes."""
    parts = [*map(render, wired.files), _format_file_list(wired.files)]
    parts += [style(wrap_text(f"✗ {problem}", "", "  "), fg="red") for problem in wired.problems]
    parts += [style(wrap_text(f"⚠ {note}", "", "  "), fg="yellow") for note in wired.notes]
    return "\n\n".join(part for part in parts if part)


def _format_file_list(files: Sequence[RewrittenFile]) -> str:
    """Return a list of the files, since the diffs may be longer than a screen."""
    if len(files) < _MIN_LISTED_FILES:
        return ""
    rows = [(require_agent(file.flavor).title, file.why, shorten_home(file.path)) for file in files]
    return format_table(("agent", "purpose", Column("file", keep_end=True)), rows)


@render.register
def _(file: RewrittenFile) -> str:
    head = style(f"{require_agent(file.flavor).title}: {file.why}", bold=True)
    lines = file.diff.splitlines()
    more = len(lines) - _MAX_PLUGIN_LINES if file.why == "plugin" else 0
    shown_lines = [*map(color_diff_line, lines[: len(lines) - max(more, 0)])]
    if more > 0:
        shown_lines.append(style(f"… {more} more lines; --json shows all.", dim=True))
    return "\n".join([head, *shown_lines])


def _render_findings(findings: Sequence[Finding]) -> str:
    lines = []
    for finding in findings:
        sign, colour = _LEVEL_SIGNS[finding.level]
        lines.append(wrap_text(f"{style(sign, fg=colour)} {finding.subject}: {finding.text}", "", "  "))
        if finding.mend:
            lines.append(wrap_text(f"{style('→', dim=True)} {style(finding.mend, fg='cyan')}", "    ", "      "))
    return "\n".join(lines)


def format_ingested(result: Ingested) -> str:
    """Return in a line or two what was ingested."""
    lines = [f"Read {format_ingested_counts(result)}, subagents included." if result.events else "No new history."]
    if result.redacted:
        lines.append(f"Redacted {text.format_count(sum(result.redacted.values()), 'secret')}.")
    lines += [style(f"✗ {path}: {why}", fg="red") for path, why in result.failures.items()]
    if result.unread:
        lines.append(f"{text.format_count(len(result.unread), 'file')} could not be read; `engram doctor` lists them.")
    return "\n".join(lines)


def format_model_offers(offers: Sequence[tuple[ModelOffer, ModelEstimate]], daily_cents: int) -> str:
    """Return which models could write summaries, what a month would cost, and where the text goes."""
    if len(offers) == 1:
        offer, estimate = offers[0]
        lines = [f"{offer.title} could write your summaries: {format_monthly_cost(offer, estimate)}."]
    else:
        lines = ["These models could write your summaries:"]
        lines += [
            f"  {number}  {offer.title}: {format_monthly_cost(offer, estimate)}"
            for number, (offer, estimate) in enumerate(offers, 1)
        ]
    sessions, tokens = offers[0][1].sessions, offers[0][1].tokens
    takes = f"A month like your last one, with {text.format_count(sessions, 'session')}, takes {format_tokens(tokens)} "
    since = f"{takes}tokens. " if sessions else "There is no history yet to estimate from. "
    limit = f"The limit, also for rewriting older summaries, is {format_money(daily_cents / 100)} a day."
    companies = sorted({offer.company for offer, _ in offers if offer.company})
    to_whom = f" Your messages, without secrets, go to {' or '.join(companies)}." if companies else ""
    return "\n".join([*(wrap_text(line, "", "     ") for line in lines), wrap_text(f"{since}{limit}{to_whom}")])


def format_monthly_cost(offer: ModelOffer, estimate: ModelEstimate) -> str:
    """Return what a month with a model costs."""
    if offer.paid_by == PLAN:
        return "no extra cost, uses your plan"
    if offer.paid_by == FREE:
        return "free, stays on this machine"
    if estimate.dollars is None:
        return "price unknown"
    return f"about {format_money(estimate.dollars)} a month" if estimate.sessions else "paid by your key"


def format_found_models(offers: Sequence[ModelOffer], hint: str) -> str:
    """Return in a sentence which models were found, and what to do to use one."""
    return wrap_text(f"Models found for summaries: {', '.join(offer.title for offer in offers)}. None is used; {hint}.")


def format_past_work(captures: Sequence[Capture], last: Sequence[tuple[Capture, str]], most: int) -> str:
    """Return how many sessions there are, how they ended, and the latest work."""
    lines = [wrap_text(_format_session_counts(captures, most)), "", "Your latest work:", format_work(last)]
    more = len({capture.session.project for capture in captures} - {capture.session.project for capture, _ in last})
    if more > 0:
        lines.append(style(f"  … and {more} more projects: `engram sessions`.", dim=True))
    return "\n".join(lines)


def format_highlights(highlights: Sequence[Highlight]) -> str:
    """Return what is already known about the user's projects."""
    lines = [wrap_text(f"• {item.project}: {item.text}", "  ", "    ") for item in highlights]
    return "\n".join(["Engram already knows:", *lines])


def _format_session_counts(captures: Sequence[Capture], most: int) -> str:
    """Return in two sentences how many sessions there are, by agent, and how they ended."""
    counts_by_agent = ", ".join(
        f"{count:,} {name}" for name, count in Counter(capture.session.flavor for capture in captures).most_common()
    )
    ends = Counter(capture.outcome for capture in captures if capture.outcome not in (None, "unclear")).most_common()
    first = min((capture.began for capture in captures if capture.began), default=None)
    since = f" since {first:%Y-%m-%d}" if first else ""
    newest = " (newest only)" if len(captures) == most else ""
    ended = f" {', '.join(f'{count:,} {outcome}' for outcome, count in ends)}, the rest unclear." if ends else ""
    return f"Your sessions{since}, without subagents: {counts_by_agent}{newest}.{ended}"


def format_work(last: Sequence[tuple[Capture, str]]) -> str:
    """Return a line for every piece of work: project, when, agent and what was asked."""
    names = _shorten_project_names([capture.session.project for capture, _ in last])
    rows = [
        (
            "",
            name,
            format_when(capture.last_at),
            capture.session.flavor,
            _format_outcome_mark(capture),
            text.to_one_line(request, 200),
        )
        for name, (capture, request) in zip(names, last, strict=True)
    ]
    columns = (Column(""), Column("", min_width=10), Column(""), Column("", drop=2), Column("", drop=1), Column(""))
    return format_table(columns, rows)


def _format_outcome_mark(capture: Capture) -> str:
    mark, colour = OUTCOME_MARKS.get(capture.outcome or "", (" ", None))
    return style(mark, fg=colour)


def _shorten_project_names(projects: Sequence[str]) -> list[str]:
    """Return short names of projects, with the parent directory where two have the same name."""
    path_parts = [[part for part in re.split(r"[\\/]+", project) if part] for project in projects]
    ends = Counter(parts[-1] for parts in {tuple(parts) for parts in path_parts} if parts)
    return ["/".join(parts[-2:] if ends[parts[-1]] > 1 else parts[-1:]) if parts else "(none)" for parts in path_parts]


LIST_RENDERERS[Finding] = _render_findings
