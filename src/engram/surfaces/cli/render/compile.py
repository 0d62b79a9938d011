"""The result of compiling, as text for people."""

from __future__ import annotations

from engram.platform.text import format_count
from engram.surfaces.cli.render import render
from engram.surfaces.cli.render.layout import color_diff_line
from engram.surfaces.cli.terminal import style
from engram.wiki.compiler.compile import CompileResult

_MAX_PAGES = 12  # pages of one kind


@render.register
def _(result: CompileResult) -> str:
    if result.diff:
        return "\n".join(map(color_diff_line, result.diff.splitlines()))
    lines = [_format_overview(result)]
    for word, targets in (("created", result.created), ("updated", result.updated), ("removed", result.removed)):
        more = f" and {len(targets) - _MAX_PAGES} more" if len(targets) > _MAX_PAGES else ""
        lines += [f"  {word}: {', '.join(targets[:_MAX_PAGES])}{more}"] if targets else []
    lines += [
        f"  {target}: {', '.join(sections)} kept as edited by a person" for target, sections in result.kept.items()
    ]
    lines += [f"  {day} is waiting: {why}" for day, why in result.waiting.items()]
    lines += [style(f"  {day} failed: {why} The next run tries again.", fg="red") for day, why in result.failed.items()]
    return "\n".join(lines)


def _format_overview(result: CompileResult) -> str:
    if not result.logs and not result.projects and not result.failed:
        return "Nothing to compile."
    entries = format_count(result.entries, "new entry", "new entries")
    logs = f"{format_count(len(result.logs), 'log')} with {entries}" if result.logs else ""
    projects = format_count(len(result.projects), "project") if result.projects else ""
    compiled = " and ".join(part for part in (projects, logs) if part) or "nothing"
    cost_note = f" The model took {result.tokens:,} tokens, ${result.cost:.4f}." if result.tokens else ""
    return f"Compiled {compiled}.{cost_note}"
