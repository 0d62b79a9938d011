"""Commands around the wiki that are more than one operation: a question of many words, a context file, an editor."""

from __future__ import annotations

import os

import click

from engram.api import Engram
from engram.errors import Error, NotFound
from engram.surfaces.cli.capture import mark_failed
from engram.surfaces.cli.commands import json_option, project_at, project_option, show
from engram.surfaces.cli.errands import edited


def ask(question: tuple[str, ...], file_back: bool, project: str | None, budget: int, as_json: bool) -> None:
    """Ask the wiki and all that is remembered: an answer with its sources, or that nothing is known."""
    with Engram() as engram:
        show(engram.ask(" ".join(question), file_back, project_at(project), budget), as_json)


def flush(session: str | None, of_session: str | None, limit: int, as_json: bool) -> None:
    """Write what is new in conversations into the daily logs: of all sessions, of SESSION, or of a context file.

    `engram flush CONTEXT.md SESSION` is what hooks written for memoria call; the file goes once it is taken in.
    """
    from engram.wiki.context_file import flush_context_file

    with Engram() as engram:
        if of_session is not None or (session or "").endswith(".md"):
            done = flush_context_file(engram, session or "", of_session)
        else:
            done = engram.flush(session, limit)
        show(done, as_json)
        mark_failed(done)


def history(target: str, as_json: bool) -> None:
    """List the older versions of a page, the newest first."""
    with Engram() as engram:
        show(list(engram.get_page(target).versions), as_json, "No older version is kept yet.")


def edit(target: str) -> None:
    """Change a page in your editor, or write a new one; nothing you type is lost."""
    with Engram() as engram:
        try:
            page = engram.get_page(target)
            name, old, version = page.target, page.text, page.version
        except NotFound:
            name, old, version = target, "", ""
        path, new = edited(old, "page")
        if new == old or not new.strip():
            click.echo("Nothing was changed.")
        else:
            try:
                done = engram.edit_page(name, f"{new}\n", version, os.environ.get("USER"))
            except Error as refusal:
                click.echo(f"Your text is kept in {path}.", err=True)
                raise refusal
            click.echo(f"{'Created' if done.created else 'Changed'} {done.target}.")
    os.unlink(path)


PAGES = (
    click.Command(
        "history", callback=history, help=history.__doc__, params=[click.Argument(["target"]), json_option()]
    ),
    click.Command("edit", callback=edit, help=edit.__doc__, params=[click.Argument(["target"])]),
)  # fmt: skip

WIKI = (
    click.Command(
        "flush", callback=flush, help=flush.__doc__,
        params=[
            click.Argument(["session"], required=False, metavar="[SESSION | CONTEXT.md"),
            click.Argument(["of_session"], required=False, metavar="SESSION]"),
            click.Option(
                ["-n", "--limit"], type=int, default=1000, show_default=True,
                help="Maximum number of sessions, those that spoke last.",
            ),
            json_option(),
        ],
    ),
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
