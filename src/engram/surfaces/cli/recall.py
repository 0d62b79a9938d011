"""Commands around recall: ask with every filter, keep a note, bring the index up to date, delete with a question."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from engram.api import Engram
from engram.coordination import callers
from engram.errors import InvalidInput
from engram.index.kinds import TIERS
from engram.surfaces.cli.commands import acting, json_option, project_at, project_option, say, show
from engram.surfaces.cli.render import render
from engram.surfaces.cli.render_recall import explained

_NOTES = "notes"  # the session of what a person wants kept outside of any


def recall(query: tuple[str, ...], why: bool, project: str | None, as_json: bool, **wanted: Any) -> None:
    """Ask the past: what was said, done or learnt in any session of any agent."""
    words = " ".join(query)
    if not words.strip():
        raise InvalidInput(field="query", reason="it is empty. Ask something: engram recall why did we drop redis")
    with Engram() as engram:
        wanted["tiers"] = list(wanted["tiers"]) or None
        wanted["exclude_session"] = wanted["exclude_session"] or _own(engram)
        hits = engram.recall(words, project=project_at(project), **wanted)
        show(hits, as_json, _nothing(engram))
        if why and not as_json:
            say(f"\n{explained(hits)}")
        if not as_json and engram.settings.embedder == "none":
            click.echo(click.style("By keywords only: the embedder is set to none.", dim=True), err=True)


def _nothing(engram: Engram) -> str:
    from engram.store import exchanges, passages, segments

    if not exchanges.count(engram.engine) and not passages.count(engram.engine):
        return "Nothing is remembered yet. Take your agents' transcripts in with `engram ingest`."
    waiting = segments.backlog(engram.engine)
    rest = f" {waiting:,} exchanges wait to be indexed: `engram index`." if waiting else ""
    return f"Nothing relevant. --anyway shows what comes nearest.{rest}"


def remember(content: tuple[str, ...], session: str | None, role: str, as_json: bool) -> None:
    """Keep a note for good; without a session it goes to the notes."""
    text = " ".join(content) if content else ("" if sys.stdin.isatty() else sys.stdin.read())
    with Engram() as engram:
        number = engram.remember(session or _own(engram, acts=True) or _NOTES, role, text)
        show({"id": f"x{number}"} if as_json else f"Remembered as x{number}.", as_json)


def _own(engram: Engram, acts: bool = False) -> str | None:
    """Return the session that runs this command, if its agent or ENGRAM_SESSION names one."""
    return os.environ.get("ENGRAM_SESSION") or acting(
        engram, None, needed=acts and callers.named(os.environ) is not None
    )


def index(rebuild: bool, embed: bool, as_json: bool) -> None:
    """Bring the index up to date, with vectors for what has none; --rebuild makes it anew."""
    from engram.index.index import bring_up_to_date
    from engram.vault import sync, vault

    with Engram() as engram, Bars(quiet=as_json) as bars:
        sync.sync(engram, vault.of(engram))
        found = bring_up_to_date(engram, rebuild=rebuild, embed=embed, told=bars)
    show(found, as_json)


class Bars:
    """One progress bar on a terminal for each thing that is done; nothing elsewhere."""

    def __init__(self, quiet: bool) -> None:
        self._shown = not quiet and sys.stderr.isatty()
        self._bar: Any = None
        self._label, self._done = "", 0

    def __enter__(self) -> Bars:
        return self

    def __call__(self, label: str, done: int, total: int) -> None:
        if not self._shown:
            return
        if label != self._label:
            self.__exit__()
            self._bar = click.progressbar(length=total, label=label.capitalize(), file=sys.stderr)
            self._bar.__enter__()
            self._label, self._done = label, 0
        self._bar.update(done - self._done)
        self._done = done

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.__exit__(None, None, None)
            self._bar = None


def delete(session: str, yes: bool, dry_run: bool, as_json: bool) -> None:
    """Delete a session for good, with its subagents, and take it out of all that was made of it."""
    with Engram() as engram:
        found = engram.get_session(session)
        if dry_run:
            show(engram.delete_session(found.id, dry_run=True), as_json)
            return
        if not (yes or as_json):
            click.echo(render(engram.delete_session(found.id, dry_run=True)), err=True)
            click.confirm(f"Delete {found.id} ({found.flavor}: {found.summary[:60]}) for good?", abort=True, err=True)
        show(engram.delete_session(found.id), as_json)


def _filters() -> list[click.Parameter]:
    return [
        click.Option(["-k"], type=int, default=5, show_default=True, help="At most so many hits."),
        click.Option(["-s", "--session", "session_id"], help="Only of this session."),
        click.Option(["--not-session", "exclude_session"], help="Not of this session; the one that asks anyway."),
        click.Option(["--flavor"], help="Only this agent's."),
        click.Option(["--domain"], help="Only of projects in this domain."),
        click.Option(["--role"], help="Only what was said by user, assistant, tool."),
        click.Option(["--outcome"], help="Only of sessions that ended so: success, partial, failure, abandoned."),
        click.Option(["--file"], help="Only of sessions that worked on this file."),
        click.Option(["--tool"], help="Only of sessions that called this tool."),
        click.Option(["--in", "tiers"], multiple=True, type=click.Choice(TIERS), help="Only in these tiers."),
        click.Option(["--since"], help="Not before: 7d, 12h, 2026-11-01, 'last week'."),
        click.Option(["--until"], help="Before: 7d, 12h, 2026-11-01, 'last week'."),
        click.Option(["--by"], type=click.Choice(["hit", "session"]), default="hit", help="The best of each session."),
        click.Option(["--budget"], type=int, help="At most so many tokens."),
        click.Option(["--anyway", "abstain"], flag_value=False, default=True, type=bool,
                     help="Show what comes nearest, also where nothing answers."),
    ]  # fmt: skip


RECALL = (
    click.Command(
        "recall", callback=recall, help=recall.__doc__,
        params=[
            click.Argument(["query"], nargs=-1), project_option(), *_filters(),
            click.Option(["--why"], is_flag=True, help="With the parts of each score."), json_option(),
        ],
    ),
    click.Command(
        "remember", callback=remember, help=remember.__doc__,
        params=[
            click.Argument(["content"], nargs=-1),
            click.Option(["-s", "--session"], help="The session it belongs to."),
            click.Option(["--role"], default="user", show_default=True, help="Who said it."), json_option(),
        ],
    ),
    click.Command(
        "index", callback=index, help=index.__doc__,
        params=[
            click.Option(["--rebuild"], is_flag=True, help="Make it anew from what is stored."),
            click.Option(["--embed/--no-embed"], default=True, help="Embed what has no vectors yet."), json_option(),
        ],
    ),
    click.Command(
        "delete", callback=delete, help=delete.__doc__,
        params=[
            click.Argument(["session"]), click.Option(["-y", "--yes"], is_flag=True, help="Do not ask."),
            click.Option(["--dry-run"], is_flag=True, help="Only show what would be deleted and what would change."),
            json_option(),
        ],
    ),
)  # fmt: skip
