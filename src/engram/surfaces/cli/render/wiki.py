"""Answers, lint reports and imported wikis, as text for people."""

from __future__ import annotations

from engram.importers.memoria import MemoriaImportReport
from engram.platform.text import escape_inline, format_count
from engram.surfaces.cli.render import render
from engram.surfaces.cli.render.layout import wrap_text
from engram.surfaces.cli.terminal import style
from engram.wiki.answer import AnswerSource, WikiAnswer
from engram.wiki.checks import LintFinding
from engram.wiki.lint import LintReport

_MAX_FINDINGS = 30  # findings of one severity; the report has them all
_TITLE = 60  # characters
_SEVERITY_COLORS = {"error": "red", "warning": "yellow", "suggestion": "cyan"}


@render.register
def _(result: WikiAnswer) -> str:
    lines = [wrap_text(line) for line in result.answer.splitlines()]
    if result.sources:
        lines += ["", "Sources:", *(_format_source(item) for item in result.sources)]
    if result.follow_up:
        lines += ["", "Still open:", *(f"  {item}" for item in result.follow_up)]
    if result.filed:
        lines += ["", f"Filed as {result.filed}."]
    if result.problem:
        lines += ["", style(f"The model could not answer: {' '.join(result.problem.split())}", fg="yellow")]
    return "\n".join(lines)


def _format_source(source: AnswerSource) -> str:
    """Return a source with its title and the command that shows it."""
    command = f"engram get {source.target or source.id}" if source.id else f"engram show {source.session_id}"
    title = f"  {escape_inline(source.title, _TITLE)}" if source.title else ""
    return f"  {source.shown}{title}  {style(command, dim=True)}"


@render.register
def _(result: LintReport) -> str:
    counts = result.counts
    totals = ", ".join(f"{number} {name}{'' if number == 1 else 's'}" for name, number in counts.items())
    lines = [f"{format_count(result.pages, 'article')}, {format_count(result.logs, 'log')}: {totals}."]
    for severity in counts:
        some = [item for item in result.findings if item.severity == severity]
        lines += [_format_finding(item) for item in some[:_MAX_FINDINGS]]
        lines += [f"  … and {len(some) - _MAX_FINDINGS} more {severity}s"] if len(some) > _MAX_FINDINGS else []
    lines += [style(f"  fixed: {item}", fg="green") for item in result.fixed[:_MAX_FINDINGS]]
    if result.problem:
        lines.append(style(f"Contradictions were not looked for: {result.problem}", fg="yellow"))
    if not result.fixed and any(item.fixable for item in result.findings):
        lines.append(style("`engram lint --fix` adds backlinks and repairs the index.", dim=True))
    return "\n".join([*lines, *([f"Report: {result.report}"] if result.report else [])])


def _format_finding(finding: LintFinding) -> str:
    return f"  {style(finding.check, fg=_SEVERITY_COLORS[finding.severity])}  {finding.page}: {finding.message}"


@render.register
def _(result: MemoriaImportReport) -> str:
    word = "Would import" if result.dry_run else "Imported"
    already_here = format_count(result.already_here, "file was", "files were")
    rest = f"{already_here} already here, {format_count(result.compiled, 'log counts', 'logs count')} as compiled"
    took = f"{format_count(result.logs, 'log')} and {format_count(result.articles, 'article')}"
    lines = [f"{word} {took} from {result.source}; {rest}."]
    lines += [f"  {format_count(result.contexts, 'conversation')} it could not flush"] if result.contexts else []
    lines += [f"  {format_count(result.links, 'link')} rewritten to fit"] if result.links else []
    lines += [f"  both kept: {ours}, and theirs as {theirs}" for ours, theirs in result.kept_both.items()]
    lines += [f"  {number} {kind} redacted" for kind, number in result.redacted.items()]
    return "\n".join([*lines, *(style(f"  left out: {item}", fg="yellow") for item in result.refused)])
