"""What compiling came to, as text for people."""

from __future__ import annotations

import click

from engram.compiler.compile import Compiled
from engram.surfaces.cli.render import render

_SHOWN = 12  # pages of one kind


@render.register
def _(done: Compiled) -> str:
    if done.diff:
        return "\n".join(map(_colored, done.diff.splitlines()))
    lines = [_overview(done)]
    for word, targets in (("created", done.created), ("updated", done.updated), ("removed", done.removed)):
        more = f" and {len(targets) - _SHOWN} more" if len(targets) > _SHOWN else ""
        lines += [f"  {word}: {', '.join(targets[:_SHOWN])}{more}"] if targets else []
    lines += [f"  {target}: {', '.join(kept)} left as somebody edited it" for target, kept in done.kept.items()]
    lines += [f"  {day} waits: {why}" for day, why in done.waiting.items()]
    lines += [click.style(f"  {day} failed: {why} It is tried again.", fg="red") for day, why in done.failed.items()]
    return "\n".join(lines)


def _overview(done: Compiled) -> str:
    if not done.logs and not done.failed:
        return "Nothing to compile."
    logs = f"{len(done.logs)} {'log' if len(done.logs) == 1 else 'logs'}"
    paid = f" The model took {done.tokens:,} tokens, ${done.cost:.4f}." if done.tokens else ""
    return f"Compiled {logs} with {done.entries} new {'entry' if done.entries == 1 else 'entries'}.{paid}"


def _colored(line: str) -> str:
    colors = {"+": "green", "-": "red", "@": "cyan"}
    bold = line.startswith(("+++", "---"))
    return click.style(line, bold=True) if bold else click.style(line, fg=colors.get(line[:1]))
