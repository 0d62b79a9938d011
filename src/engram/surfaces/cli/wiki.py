"""Commands around the wiki that are more than one operation: a question of many words."""

from __future__ import annotations

import click

from engram.api import Engram
from engram.surfaces.cli.commands import json_option, project_at, project_option, show


def ask(question: tuple[str, ...], file_back: bool, project: str | None, budget: int, as_json: bool) -> None:
    """Ask the wiki and all that is remembered: an answer with its sources, or that nothing is known."""
    with Engram() as engram:
        show(engram.ask(" ".join(question), file_back, project_at(project), budget), as_json)


WIKI = (
    click.Command(
        "ask", callback=ask, help=ask.__doc__,
        params=[
            click.Argument(["question"], nargs=-1),
            click.Option(["--file-back"], is_flag=True, help="Keep the answer as a page of the wiki, in qa/."),
            project_option(),
            click.Option(["--budget"], type=int, default=1500, show_default=True, help="At most so many tokens."),
            json_option(),
        ],
    ),
)  # fmt: skip
