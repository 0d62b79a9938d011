"""The configured model, as text for people."""

from __future__ import annotations

from engram.models.status import ModelStatus
from engram.surfaces.cli.render import render
from engram.surfaces.cli.render.layout import format_facts, format_money
from engram.surfaces.cli.terminal import style


@render.register
def _(status: ModelStatus) -> str:
    if status.provider == "none":
        return f"{status.reason}\n{_format_usage_today(status)}" if status.calls else status.reason
    good = "answered" if status.tried else "reachable"
    state = style(f"✓ {good}", fg="green") if status.ready else style(f"✗ {status.reason}", fg="red")
    rows = (("provider", status.provider), ("model", status.model or "the provider's default"), ("state", state),
             ("today", _format_usage_today(status)))  # fmt: skip
    return format_facts(rows)


def _format_usage_today(status: ModelStatus) -> str:
    calls = f"{status.calls} {'call' if status.calls == 1 else 'calls'}"
    tokens = f", {status.tokens:,} of {status.token_cap:,} tokens without a price" if status.tokens else ""
    free = f"{status.free_at.astimezone():%Y-%m-%d %H:%M}"
    return f"{calls}, {format_money(status.spent)} of {format_money(status.cap)}{tokens}; the limit resets at {free}"
