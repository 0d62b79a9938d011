"""`engram recall`, `remember`, `index` and `delete`."""

from __future__ import annotations

import os
import sys
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from engram.api import Engram
from engram.errors import InvalidInput
from engram.index.doc_kinds import TIERS
from engram.platform.text import format_count
from engram.search.filter import ROLES
from engram.sessions import caller
from engram.summaries.exchanges import NOTES_SESSION, find_message
from engram.surfaces.cli.acting_session import find_acting_session
from engram.surfaces.cli.options import (
    find_project,
    json_option,
    project_option,
    yes_option,
)
from engram.surfaces.cli.output import print_notice, print_text, show_result
from engram.surfaces.cli.progress import Progress
from engram.surfaces.cli.render import render
from engram.surfaces.cli.render.recall import explain_scores
from engram.types import OUTCOMES

if TYPE_CHECKING:
    from engram.search.time_expressions import Window


def run_recall(query: tuple[str, ...], why: bool, project: str | None, as_json: bool, **filters: Any) -> None:
    """Search everything your agents ever did."""
    question = " ".join(query)
    if not question.strip():
        raise InvalidInput(field="query", reason="Nothing to search for. Try: engram recall why did we drop redis")
    with Engram() as engram:
        filters["tiers"] = list(filters["tiers"]) or None
        filters["exclude_session"] = filters["exclude_session"] or _find_own_session(engram)
        hits = engram.recall(question, project=find_project(engram, project), **filters)
        show_result(hits, as_json, _explain_no_hits(engram, question, abstained=filters["abstain"]))
        if why and not as_json:
            print_text(f"\n{explain_scores(hits)}")
        if not as_json and engram.settings.embedder == "none":
            print_notice("Keyword search only: the embedder setting is `none`.")


def _explain_no_hits(engram: Engram, question: str, abstained: bool) -> str:
    from engram.search import question_intent
    from engram.search.query import parse_question
    from engram.search.recall import parse_asking_time
    from engram.store import exchanges, index_segments, passages

    if not exchanges.count(engram.engine) and not passages.count(engram.engine):
        return "Nothing is remembered yet. Run `engram ingest` to read your agents' transcripts."
    parsed = parse_question(question, parse_asking_time(engram, None))
    if parsed.window is not None and question_intent.asks_for_work(parsed):
        return f"No session worked {_format_window(parsed.window)}."
    waiting = index_segments.count_queued(engram.engine)
    rest = f" Not indexed yet: {format_count(waiting, 'message')}. Run `engram index`." if waiting else ""
    return f"Nothing relevant found.{' --anyway shows the nearest matches.' if abstained else ''}{rest}"


def _format_window(window: Window) -> str:
    """Return a window as days, the last one included."""
    first = window.since.date().isoformat() if window.since else ""
    last = (window.until - timedelta(microseconds=1)).date().isoformat() if window.until else ""
    if first and last:
        return f"on {first}" if first == last else f"from {first} to {last}"
    return f"since {first}" if first else f"until {last}"


def remember_note(content: tuple[str, ...], session: str | None, role: str, as_json: bool) -> None:
    """Remember a note. Without a session, it goes to the session `notes`."""
    text = " ".join(content) if content else ("" if sys.stdin.isatty() else sys.stdin.read())
    with Engram() as engram:
        session_id = session or _find_own_session(engram, acts=True) or NOTES_SESSION
        number = find_message(engram, session_id, text) or engram.remember(session_id, role, text)
        show_result({"id": f"x{number}"} if as_json else f"Remembered as x{number}.", as_json)


def _find_own_session(engram: Engram, acts: bool = False) -> str | None:
    """Return the session that runs this command, if its agent or ENGRAM_SESSION names one."""
    return os.environ.get("ENGRAM_SESSION") or find_acting_session(
        engram, None, is_required=acts and caller.find_own_native_id(os.environ) is not None
    )


def update_search_index(rebuild: bool, embed: bool, as_json: bool) -> None:
    """Update the search index, or rebuild it from what is stored."""
    from engram.index.maintenance import update_index
    from engram.wiki.vault import sync, vault

    with Engram() as engram, Progress(quiet=as_json) as progress:
        sync.sync_pages(engram, vault.open_vault(engram))
        result = update_index(engram, rebuild=rebuild, embed=embed, progress=progress.report)
    show_result(result, as_json)


def delete_session(session: str, yes: bool, dry_run: bool, as_json: bool) -> None:
    """Delete a session and its subagents, and remove them from everything made from it."""
    with Engram() as engram:
        target = engram.get_session(session)
        if dry_run:
            show_result(engram.delete_session(target.id, dry_run=True), as_json)
            return
        if not (yes or as_json):
            click.echo(render(engram.delete_session(target.id, dry_run=True)), err=True)
            click.confirm(
                f"Delete {target.id} ({target.flavor}: {target.summary[:60]}) for good?", abort=True, err=True
            )
        show_result(engram.delete_session(target.id), as_json)


def _build_filter_options() -> list[click.Parameter]:
    return [
        click.Option(["-k"], type=int, help="Maximum number of hits. Default: 5, or 20 for a question about a time."),
        click.Option(["-s", "--session", "session_id"], help="Only in this session."),
        click.Option(["--not-session", "exclude_session"], help="Not in this session. Default: the session that asks."),
        click.Option(["--agent", "flavor"], help="Only sessions of this agent."),
        click.Option(["--domain"], help="Only sessions in projects of this domain."),
        click.Option(["--role"], type=click.Choice(ROLES), help="Only messages by this role."),
        click.Option(["--outcome"], type=click.Choice(OUTCOMES), help="Only sessions with this outcome."),
        click.Option(["--file"], help="Only sessions that worked on this file."),
        click.Option(["--tool"], help="Only sessions that called this tool."),
        click.Option(
            ["--in", "tiers"], multiple=True, type=click.Choice(TIERS), help="Only this kind of text; can be repeated."
        ),
        click.Option(["--since"], help="Not older than: 7d, 12h, 2026-11-01, 'last week'."),
        click.Option(["--until"], help="Older than: 7d, 12h, 2026-11-01, 'last week'."),
        click.Option(
            ["--by"], type=click.Choice(["hit", "session"]), default="hit", show_default=True,
            help="One result per hit, or the best hit of every session.",
        ),
        click.Option(["--messages"], is_flag=True, help="Show single messages instead of what settled each episode."),
        click.Option(["--budget"], type=int, help="Maximum number of tokens to print."),
        click.Option(["--anyway", "abstain"], flag_value=False, default=True, type=bool,
                     help="Show the nearest matches even if none is good."),
    ]  # fmt: skip


COMMANDS = {
    "recall": click.Command(
        "recall", callback=run_recall, help=run_recall.__doc__,
        params=[
            click.Argument(["query"], nargs=-1), project_option(), *_build_filter_options(),
            click.Option(["--why"], is_flag=True, help="Show how every score is made up."), json_option(),
        ],
    ),
    "remember": click.Command(
        "remember", callback=remember_note, help=remember_note.__doc__,
        params=[
            click.Argument(["content"], nargs=-1),
            click.Option(["-s", "--session"], help="The session the note belongs to."),
            click.Option(["--role"], default="user", show_default=True, help="Author of the note."), json_option(),
        ],
    ),
    "index": click.Command(
        "index", callback=update_search_index, help=update_search_index.__doc__,
        params=[
            click.Option(["--rebuild"], is_flag=True, help="Rebuild the index from what is stored."),
            click.Option(["--embed/--no-embed"], default=True, help="Compute vectors for texts that have none."),
            json_option(),
        ],
    ),
    "delete": click.Command(
        "delete", callback=delete_session, help=delete_session.__doc__,
        params=[
            click.Argument(["session"]), yes_option(),
            click.Option(["--dry-run"], is_flag=True, help="Show what would be deleted and changed, and stop."),
            json_option(),
        ],
    ),
}  # fmt: skip
