"""`engram cost`: the period above the table."""

from __future__ import annotations

from typing import Any

import click

from engram.hub import Hub
from engram.operation import Operation


def run_cost(hub: Hub, operation: Operation, arguments: dict[str, Any]) -> Any:
    """Sum up tokens and money, and say above the table which period it covers."""
    costs = operation.call(hub, **arguments)
    if costs and not click.get_current_context().params.get("as_json"):
        click.echo(f"{_format_period(arguments)}:")
    return costs


def _format_period(arguments: dict[str, Any]) -> str:
    session, days = arguments.get("session"), arguments.get("days")
    if session:
        return f"Session {session}"
    return "Today" if days == 1 else f"The last {days:g} days"
