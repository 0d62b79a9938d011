"""What commands print: results for people or as JSON, notices, errors, and the exit status of a partial failure."""

from __future__ import annotations

import os
import sys

from engram.agents import running
from engram.errors import InvalidInput
from engram.platform import text
from engram.sessions import caller, messages
from engram.store import sessions as session_store
from engram.surfaces.cli.render import render
from engram.surfaces.cli.render.layout import fit_lines, wrap_text
from engram.surfaces.cli.terminal import style, unstyle, write_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from engram.errors import Error
    from engram.hub import Hub

FAILED_KEY = "engram.failed"  # in a context's meta: the command showed its result, and something in it failed


def show_result(result: Any, as_json: bool, empty_message: str = "") -> None:
    """Print a result for a program or for a person."""
    if as_json:
        from engram.surfaces.encode import to_json

        write_line(to_json(result))
    else:
        print_text(render(result) if result or not empty_message else empty_message)


def print_text(words: str) -> None:
    """Print text; for an agent, without markup that could pass for instructions."""
    write_line(text.neutralize_markup(unstyle(words)) if _is_read_by_agent() else fit_lines(words))


def print_notice(words: str) -> None:
    """Print a line beside the result."""
    write_line(style(wrap_text(words), dim=True), err=True)


def print_error(error: Error) -> None:
    """Print an error in one line, or as JSON if the command was asked for JSON."""
    if "--json" in sys.argv:
        from engram.surfaces.encode import error_to_dict, to_json

        write_line(to_json(error_to_dict(error)))
    else:
        words = " ".join(_format_error(error).split())
        write_line(wrap_text(f"{style('engram:', fg='red')} {words}"), err=True)


def _format_error(error: Error) -> str:
    """Return the message; a reason that is a sentence stands without the name of its parameter."""
    reason = str(error.facts.get("reason", "")) if isinstance(error, InvalidInput) else ""
    return reason if reason[:1].isupper() else str(error)


def announce_unread(hub: Hub, session_id: str) -> None:
    """Mention on stderr that messages are waiting."""
    is_known = session_store.get(hub.engine, session_id) is not None
    unread_count = messages.count_unread(hub, session_id) if is_known else 0
    if unread_count:
        write_line(style(f"✉ {unread_count} unread: engram inbox -s {session_id}", fg="cyan"), err=True)


def mark_failed() -> None:
    """Make the command exit with status 1 after it has shown its result."""
    import click

    click.get_current_context().meta[FAILED_KEY] = True


def _is_read_by_agent() -> bool:
    return caller.find_own_native_id(os.environ) is not None or running.find_running_agent() is not None
