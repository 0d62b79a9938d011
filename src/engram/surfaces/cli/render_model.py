"""The model that thinks for Engram, as text for people."""

from __future__ import annotations

import click

from engram.llm.status import ModelStatus
from engram.surfaces.cli.render import facts, render


@render.register
def _(status: ModelStatus) -> str:
    if status.provider == "none":
        return f"{status.reason}\n{_today(status)}" if status.calls else status.reason
    good = "answered" if status.tried else "can be reached"
    state = click.style(f"✓ {good}", fg="green") if status.ready else click.style(f"✗ {status.reason}", fg="red")
    shown = (("provider", status.provider), ("model", status.model or "its own choice"), ("state", state),
             ("today", _today(status)))  # fmt: skip
    return facts(shown)


def _today(status: ModelStatus) -> str:
    calls = f"{status.calls} {'call' if status.calls == 1 else 'calls'}"
    tokens = f", {status.tokens:,} of {status.token_cap:,} tokens without a price" if status.tokens else ""
    free = f"{status.free_at.astimezone():%Y-%m-%d %H:%M}"
    return f"{calls}, ${status.spent:,.4f} of ${status.cap:,.2f}{tokens}; whole again at {free}"
