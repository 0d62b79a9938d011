"""Answers, lint and taken-over wikis, as text for people."""

from __future__ import annotations

import click

from engram.surfaces.cli.render import render
from engram.text import counted
from engram.wiki.ask import Asked
from engram.wiki.checks import Finding
from engram.wiki.import_memoria import Adopted
from engram.wiki.lint import Linted

_SHOWN = 30  # findings of one severity; the report has them all
_COLORS = {"error": "red", "warning": "yellow", "suggestion": "cyan"}


@render.register
def _(found: Asked) -> str:
    lines = [found.answer]
    if found.sources:
        named = [
            f"  {each.shown}  {click.style(f'engram get {each.target or each.id}', dim=True)}" for each in found.sources
        ]
        lines += ["", "Sources:", *named]
    if found.follow_up:
        lines += ["", "It leaves open:", *(f"  {each}" for each in found.follow_up)]
    if found.filed:
        lines += ["", f"Filed as {found.filed}."]
    if found.problem:
        lines += ["", click.style(f"The model could not answer: {' '.join(found.problem.split())}", fg="yellow")]
    return "\n".join(lines)


@render.register
def _(found: Linted) -> str:
    counts = found.counts
    told = ", ".join(f"{number} {name}{'' if number == 1 else 's'}" for name, number in counts.items())
    lines = [f"{found.pages:,} articles, {found.logs:,} logs: {told}."]
    for severity in counts:
        some = [each for each in found.findings if each.severity == severity]
        lines += [_finding(each) for each in some[:_SHOWN]]
        lines += [f"  … and {len(some) - _SHOWN} more {severity}s"] if len(some) > _SHOWN else []
    lines += [click.style(f"  fixed: {each}", fg="green") for each in found.fixed[:_SHOWN]]
    if found.problem:
        lines.append(click.style(f"Contradictions were not looked for: {found.problem}", fg="yellow"))
    if not found.fixed and any(each.fixable for each in found.findings):
        lines.append(click.style("`engram lint --fix` adds backlinks and puts the index right.", dim=True))
    return "\n".join([*lines, *([f"Report: {found.report}"] if found.report else [])])


def _finding(each: Finding) -> str:
    return f"  {click.style(each.check, fg=_COLORS[each.severity])}  {each.page}: {each.message}"


@render.register
def _(found: Adopted) -> str:
    word = "Would take over" if found.dry_run else "Took over"
    rest = f"{found.already_here} were here already, {found.compiled} logs count as compiled"
    lines = [f"{word} {found.logs} logs and {found.articles} articles from {found.source}; {rest}."]
    lines += [f"  {counted(found.contexts, 'conversation')} it could not flush"] if found.contexts else []
    lines += [f"  {found.links} links rewritten to fit"] if found.links else []
    lines += [f"  both kept: {ours}, and theirs as {theirs}" for ours, theirs in found.kept_both.items()]
    lines += [f"  {number} {kind} taken out" for kind, number in found.redacted.items()]
    return "\n".join([*lines, *(click.style(f"  left: {each}", fg="yellow") for each in found.refused)])
