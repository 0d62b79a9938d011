"""Commands around captured sessions: sweep with a progress bar, list, show one from every side."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from datetime import datetime, timezone
from functools import wraps
from types import TracebackType
from typing import Any

import click

from engram.api import Engram
from engram.compiler.compile import Compiled
from engram.digests.digest import OUTCOMES
from engram.errors import InvalidInput, NotFound
from engram.model import Check, Cost, Ingested
from engram.operation import Operation
from engram.settings import load
from engram.store import hook_log
from engram.surfaces.cli.commands import json_option, project_at, project_option, say, show
from engram.wiki.flush import Flushed
from engram.wiki.lint import Linted

FAILED = "engram.failed"  # in a command's meta: its answer names something that went wrong


def ingest(paths: tuple[str, ...], again: bool, dry_run: bool, watching: bool, since: str | None, flavor: str | None,
           config: str | None, spooled: bool, as_json: bool) -> None:  # fmt: skip
    """Take in what the agents' transcripts say since the last time; without paths, everything that is new."""
    if spooled:
        _work_for_hooks()
        return
    if config is not None:
        _refuse_with_config(paths, again, watching, since, flavor)
        _ingest_by_config(config, dry_run, as_json)
        return
    _refuse_together(paths, again, dry_run, watching, since, flavor)
    with Engram() as engram:
        if watching:
            _watch(engram, flavor, as_json)
            return
        from engram.capture.intake import sweep

        with Bar(quiet=as_json) as bar:
            found = sweep(
                engram,
                paths=list(paths) or None,
                flavor=flavor,
                since_hours=_hours(since),
                dry_run=dry_run,
                again=again,
                progress=bar,
            )
        show(found, as_json)
        mark_failed(found)


def _ingest_by_config(path: str, dry_run: bool, as_json: bool) -> None:
    """Sweep as a config.toml of session_memory asks."""
    from engram.compat import session_memory

    config = session_memory.read_config(path)
    tell_notes(path, config.notes)
    with Engram(**config.caps) as engram, Bar(quiet=as_json) as bar:
        found = session_memory.ingest(engram, config, dry_run=dry_run, progress=bar)
    show(found, as_json)
    mark_failed(found)


def tell_notes(path: str, notes: tuple[str, ...]) -> None:
    """Name on the side the keys of a config that change nothing here."""
    for each in notes:
        click.echo(click.style(f"{path}: {each}", fg="yellow"), err=True)


def _refuse_with_config(
    paths: tuple[str, ...], again: bool, watching: bool, since: str | None, flavor: str | None
) -> None:  # fmt: skip
    given = {"paths": bool(paths), "--again": again, "--watch": watching}
    given |= {"--since": since is not None, "--flavor": flavor is not None}
    for name in (name for name, is_given in given.items() if is_given):
        raise InvalidInput(field=name, reason="--config names what is taken in; it does not go with this.")


def _work_for_hooks() -> None:
    """Empty the spool behind the agents' backs; whatever goes wrong is written where hooks write, and tried again."""
    started = time.monotonic()
    try:
        if hasattr(os, "nice"):
            os.nice(10)
        with Engram() as engram:
            from engram.dream.worker import work

            work(engram)
    except Exception as problem:
        hook_log.note(load().home, "", "capture", time.monotonic() - started, f"{type(problem).__name__}: {problem}")


def _refuse_together(
    paths: tuple[str, ...], again: bool, dry_run: bool, watching: bool, since: str | None, flavor: str | None
) -> None:  # fmt: skip
    """Refuse options that would be passed over in silence."""
    if watching:
        unfit = {"--again": again, "--dry-run": dry_run, "--since": since is not None, "paths": paths}
        for name, given in unfit.items():
            if given:
                raise InvalidInput(field=name, reason="--watch takes in all that comes; it does not go with this.")
    for name, each in (("--since", since), ("--flavor", flavor)):
        if paths and each is not None:
            raise InvalidInput(field=name, reason="it chooses among all transcripts; named paths are taken in anyway.")


def _hours(since: str | None) -> float | None:
    """Return how many hours ago something was that a person names: 12h, 7d, 2026-11-01."""
    if since is None:
        return None
    try:
        if since[-1:] in ("h", "d"):
            return float(since[:-1]) * (24 if since.endswith("d") else 1)
        then = datetime.fromisoformat(since).astimezone()
        return (datetime.now(timezone.utc) - then).total_seconds() / 3600
    except ValueError:
        reason = f"{since!r} is neither hours (12h), days (7d) nor a date (2026-11-01)."
        raise InvalidInput(field="since", reason=reason) from None


def _watch(engram: Engram, flavor: str | None, as_json: bool) -> None:
    from engram.capture.watch import watch

    if not as_json:
        click.echo("Watching; stop with Ctrl-C.", err=True)
    try:
        for found in watch(engram, flavor):
            if found.ingested or as_json:
                show(found, as_json)
    except KeyboardInterrupt:
        click.echo("Stopped; everything taken in so far is kept.", err=True)


def _name(path: str | None) -> str | None:
    return os.path.basename(path)[:40] if path else None


class Bar:
    """A progress bar on a terminal, nothing elsewhere."""

    def __init__(self, quiet: bool) -> None:
        self._shown = not quiet and sys.stderr.isatty()
        self._bar: Any = None
        self._done = 0

    def __enter__(self) -> Bar:
        return self

    def __call__(self, done: int, total: int, path: str) -> None:
        if not self._shown or not total:
            return
        if self._bar is None:
            self._bar = click.progressbar(
                length=total, label="Reading transcripts", file=sys.stderr, item_show_func=_name
            )
            self._bar.__enter__()
        self._bar.current_item = path
        self._bar.update(min(done, total) - self._done)
        self._done = min(done, total)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.__exit__(kind, error, trace)


def sessions(
    project: str | None, everywhere: bool, recent: bool, captured: bool, subagents: bool, hours: float | None,
    limit: int, as_json: bool, **captures: Any,
) -> None:  # fmt: skip
    """List who is here; --recent lists completed work, --captured what transcripts tell."""
    room = None if everywhere else project_at(project)
    with Engram() as engram:
        if captured or subagents or any(each is not None for each in captures.values()):
            days = None if hours is None else hours / 24
            found: list[Any] = engram.list_sessions(room, days=days, subagents=subagents, limit=limit, **captures)
            show(found, as_json, "No such session is captured. Take transcripts in with `engram ingest`.")
        elif recent:
            found = engram.get_recent_sessions(hours or 24, room, limit)
            show(found, as_json, f"No session was completed in the last {hours or 24:g} hours.")
        else:
            found = engram.get_active_sessions(room, limit)
            show(found, as_json, "Nobody is here. Announce a session with `engram register`.")


def show_session(
    session_id: str, events: bool, digest: bool, cost: bool, outline: bool, kind: str | None, start: str | None,
    limit: int, as_json: bool,
) -> None:  # fmt: skip
    """Show one session: who and where, what it came to; --events tells all that happened."""
    if events + digest + cost + outline > 1:
        raise InvalidInput(field="show", reason="choose one of --events, --digest, --cost, --outline.")
    with Engram() as engram:
        if events or kind or start:
            _events(engram, session_id, kind, start, limit, as_json)
        elif outline:
            show(engram.get_outline(session_id), as_json)
        elif digest:
            show(engram.get_digest(session_id), as_json)
        elif cost:
            spent = engram.cost("model", session_id)
            tell_days(spent, {"session": session_id}, as_json)
            show(spent, as_json, "Its transcript tells of no tokens.")
        else:
            _overview(engram, session_id, as_json)


def _events(engram: Engram, session_id: str, kind: str | None, start: str | None, limit: int, as_json: bool) -> None:
    """Show what happened, from the beginning or from one event on, and say if there is more."""
    if start and kind:
        raise InvalidInput(field="--from", reason="it counts all events; leave --kind out.")
    before = engram.locate_event(session_id, _number(start)) if start else 0
    found = engram.get_events(session_id, kind, limit, before)
    show(found, as_json, "No such events.")
    if len(found) < limit or as_json:
        return
    outline = engram.get_outline(session_id)
    total = outline.events if kind is None else outline.kinds.get(kind, 0)
    if total > before + limit:
        more = "from there" if start else f"of {total:,} events"
        click.echo(f"{limit:,} {more}; -n shows more.", err=True)


def _number(event: str) -> int:
    said = event.removeprefix("e")
    if not said.isascii() or not said.isdecimal():
        raise InvalidInput(field="--from", reason=f"{event!r} is no event; recall shows them, like e77.")
    return int(said)


def _overview(engram: Engram, session_id: str, as_json: bool) -> None:
    """Show a session with its digest and its kin, as far as they are known."""
    session = engram.get_session(session_id)
    parts: dict[str, Any] = {"session": session}
    try:
        parts["capture"] = engram.get_capture(session.id)
        parts["digest"] = engram.get_digest(session.id)
        parts["children"] = engram.get_children(session.id)
    except NotFound:
        pass  # it was never captured: what it said of itself is all there is
    if as_json:
        show({**_fields(session), **{name: each for name, each in parts.items() if name != "session"}}, True)
        return
    for part in (session, parts.get("digest")):
        if part is not None:
            show(part, False)
    for child in parts.get("children", ()):
        say(f"{child.relation}  {child.session.id}  {child.session.summary}")


def _fields(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in type(value).__match_args__}


def attended(operation: Operation) -> Operation:
    """Return an operation that also says what its result alone does not: the days it covers, that something failed."""

    @wraps(operation.call)
    def call(engram: Engram, **given: Any) -> Any:
        result = _carried_out(operation, engram, given)
        if operation.name == "cost":
            tell_days(result, given, bool(click.get_current_context().params.get("as_json")))
        mark_failed(result)
        return result

    return Operation(name=operation.name, call=call, writes=operation.writes, agent=operation.agent)


def _carried_out(operation: Operation, engram: Engram, given: dict[str, Any]) -> Any:
    """Carry an operation out, with a progress bar if it may take long."""
    if operation.name == "compile":
        return _compiled(engram, given)
    take_over = _import_with_progress(operation.name)
    if take_over is None:
        return operation.call(engram, **given)
    with Bar(quiet=bool(click.get_current_context().params.get("as_json"))) as bar:
        return take_over(engram, progress=bar, **given)


def _import_with_progress(name: str) -> Callable[..., Any] | None:
    """Return the form of an import that tells how far it is."""
    if name == "import_lyra":
        from engram.memory import import_lyra

        return import_lyra.take_over
    if name == "import_session_memory":
        from engram.patterns import forge

        return forge.take_over
    return None


def _compiled(engram: Engram, given: dict[str, Any]) -> Any:
    from engram.compiler.compile import compile_logs
    from engram.surfaces.cli.recall import Bars

    with Bars(quiet=bool(click.get_current_context().params.get("as_json"))) as bars:
        return compile_logs(engram, told=bars, asked=True, **given)


def tell_days(found: list[Cost], given: dict[str, Any], as_json: bool) -> None:
    """Say above a table of costs which days it covers."""
    if found and not as_json:
        session, days = given.get("session"), given.get("days")
        words = f"All of session {session}" if session else "The last day" if days == 1 else f"The last {days:g} days"
        click.echo(f"{words}:")


def mark_failed(result: Any) -> None:
    """Let the command end with status 1 when its result, shown all the same, names something that went wrong."""
    wrong = {Check: "problems", Ingested: "failures", Compiled: "failed", Flushed: "failed", Linted: "errors"}.get(
        type(result)
    )
    if wrong and getattr(result, wrong):
        click.get_current_context().meta[FAILED] = True


CAPTURE = (
    click.Command(
        "ingest", callback=ingest, help=ingest.__doc__,
        params=[
            click.Argument(["paths"], nargs=-1, type=click.Path()),
            click.Option(
                ["--again"], is_flag=True,
                help="Read every transcript again from its start. Nothing is stored twice; deleted sessions stay away.",
            ),
            click.Option(["--dry-run"], is_flag=True, help="Find and read, but write nothing."),
            click.Option(["--watch", "watching"], is_flag=True, help="Stay, and take in what comes as it comes."),
            click.Option(["--since"], help="Only what changed since: 12h, 7d, or a date like 2026-11-01."),
            click.Option(["--flavor"], help="Only this agent's."),
            click.Option(["--config"], help="Caps, sources and domains of this config.toml of session_memory."),
            click.Option(["--spool", "spooled"], is_flag=True, hidden=True, help="Take in what hooks asked for."),
            json_option(),
        ],
    ),
    click.Command(
        "sessions", callback=sessions, help=sessions.__doc__,
        params=[
            project_option(),
            click.Option(["-a", "--all", "everywhere"], is_flag=True, help="Of all projects (the default)."),
            click.Option(["-r", "--recent"], is_flag=True, help="Completed ones instead."),
            click.Option(["-c", "--captured"], is_flag=True, help="Those transcripts tell of instead."),
            click.Option(["--flavor"], help="Only this agent's; of the captured."),
            click.Option(["--domain"], help="Only of projects in this domain; of the captured."),
            click.Option(["--outcome"], type=click.Choice(OUTCOMES), help="Only those that ended so; of the captured."),
            click.Option(["--since"], help="Only what went on at this day or later, 2026-11-01; of the captured."),
            click.Option(["--until"], help="Only what began at this day or earlier; of the captured."),
            click.Option(["--min-cost"], type=float, help="Only what cost so many dollars; of the captured."),
            click.Option(["--subagents"], is_flag=True, help="With those other sessions started; of the captured."),
            click.Option(["--hours"], type=float, help="How far back; 24 for --recent."),
            click.Option(["-n", "--limit"], type=int, default=50, show_default=True, help="At most so many."),
            json_option(),
        ],
    ),
    click.Command(
        "show", callback=show_session, help=show_session.__doc__,
        params=[
            click.Argument(["session_id"]),
            click.Option(["--events"], is_flag=True, help="What happened, in order."),
            click.Option(["--digest"], is_flag=True, help="What it came to."),
            click.Option(["--outline"], is_flag=True, help="What people asked, turn by turn."),
            click.Option(["--cost"], is_flag=True, help="Tokens and money by model."),
            click.Option(["--from", "start"], help="Only events from this one on, like e77."),
            click.Option(["--kind"], help="Only events of this kind: message, call, result …"),
            click.Option(["-n", "--limit"], type=int, default=200, show_default=True, help="At most so many events."),
            json_option(),
        ],
    ),
)  # fmt: skip
