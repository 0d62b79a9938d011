"""`engram ask`, `engram flush`, and editing wiki pages."""

from __future__ import annotations

import os

import click

from engram.api import Engram
from engram.errors import Error, NotFound
from engram.surfaces.cli.editor import edit_text
from engram.surfaces.cli.options import find_project, json_option, limit_option, project_option
from engram.surfaces.cli.output import mark_failed, show_result


def ask_wiki(question: tuple[str, ...], file_back: bool, project: str | None, budget: int, as_json: bool) -> None:
    """Answer a question from memory, with sources."""
    with Engram() as engram:
        show_result(engram.ask(" ".join(question), file_back, find_project(engram, project), budget), as_json)


def flush_conversations(session: str | None, of_session: str | None, limit: int, as_json: bool) -> None:
    """Write new conversations into the daily logs: of all sessions, or of SESSION.

    `engram flush CONTEXT.md SESSION` is the call of memoria's hooks; the file is removed once it is flushed.
    """
    from engram.importers.memoria_context import flush_context_file

    with Engram() as engram:
        if of_session is not None or (session or "").endswith(".md"):
            result = flush_context_file(engram, session or "", of_session)
        else:
            result = engram.flush(session, limit)
        show_result(result, as_json)
        if result.failed:
            mark_failed()


def list_page_versions(target: str, as_json: bool) -> None:
    """List the older versions of a page, newest first."""
    with Engram() as engram:
        show_result(list(engram.get_page(target).versions), as_json, "No older version is kept.")


def edit_page(target: str) -> None:
    """Edit a page, or write a new one, in your editor. If it cannot be saved, your text is kept in a file."""
    with Engram() as engram:
        try:
            page = engram.get_page(target)
            name, old_text, version = page.target, page.text, page.version
        except NotFound:
            name, old_text, version = target, "", ""
        path, new_text = edit_text(old_text, "page")
        if new_text == old_text or not new_text.strip():
            click.echo("Nothing was changed.")
        else:
            try:
                result = engram.edit_page(name, f"{new_text}\n", version, os.environ.get("USER"))
            except Error as refusal:
                click.echo(f"Your text is kept in {path}.", err=True)
                raise refusal
            click.echo(f"{'Created' if result.created else 'Changed'} {result.target}.")
    os.unlink(path)


COMMANDS = {
    "wiki history": click.Command(
        "history",
        callback=list_page_versions,
        help=list_page_versions.__doc__,
        params=[click.Argument(["target"]), json_option()],
    ),
    "wiki edit": click.Command("edit", callback=edit_page, help=edit_page.__doc__, params=[click.Argument(["target"])]),
    "flush": click.Command(
        "flush", callback=flush_conversations, help=flush_conversations.__doc__,
        params=[
            click.Argument(["session"], required=False, metavar="[SESSION | CONTEXT.md"),
            click.Argument(["of_session"], required=False, metavar="SESSION]"),
            limit_option(1000, "sessions", "flush"),
            json_option(),
        ],
    ),
    "ask": click.Command(
        "ask", callback=ask_wiki, help=ask_wiki.__doc__,
        params=[
            click.Argument(["question"], nargs=-1),
            click.Option(["--file-back"], is_flag=True, help="Save the answer as a wiki page in qa/."),
            project_option(),
            click.Option(
                ["--budget"], type=int, default=1500, show_default=True,
                help="Maximum number of tokens to read as context.",
            ),
            json_option(),
        ],
    ),
}  # fmt: skip
