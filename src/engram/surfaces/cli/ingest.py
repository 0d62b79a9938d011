"""`engram ingest`: read new transcripts, once or as they grow."""

from __future__ import annotations

import os
import time

import click

from engram.api import Engram
from engram.capture.ingest_report import Ingested
from engram.errors import InvalidInput
from engram.settings import load_settings
from engram.store import hook_log
from engram.surfaces.cli.options import json_option
from engram.surfaces.cli.output import mark_failed, show_result
from engram.surfaces.cli.progress import Progress
from engram.surfaces.cli.times import parse_hours_ago


def ingest_transcripts(
    paths: tuple[str, ...], again: bool, dry_run: bool, watching: bool, since: str | None, flavor: str | None,
    config: str | None, spooled: bool, as_json: bool,
) -> None:  # fmt: skip
    """Read what is new in your agents' transcripts. With PATHS, only those files and what is in those directories.

    A directory is searched for transcripts of any agent, by content. --dry-run shows what would be read.
    """
    if spooled:
        _run_spool_worker()
        return
    if config is not None:
        _reject_options_with_config(paths, again, watching, since, flavor)
        _ingest_by_config(config, dry_run, as_json)
        return
    _reject_conflicting_options(paths, again, dry_run, watching, since, flavor)
    with Engram() as engram:
        if watching:
            _watch_transcripts(engram, flavor, as_json)
            return
        from engram.capture.ingest_run import run_sweep

        with Progress(quiet=as_json) as progress:
            if any(map(os.path.isdir, paths)):
                progress.report_step("Searching for transcripts")
            result = run_sweep(
                engram,
                paths=list(paths) or None,
                flavor=flavor,
                since_hours=parse_hours_ago(since),
                dry_run=dry_run,
                again=again,
                progress=progress.report_file,
            )
        show_ingested(result, as_json)


def show_ingested(result: Ingested, as_json: bool) -> None:
    """Print the result of an ingest; the command fails if a transcript could not be read."""
    show_result(result, as_json)
    if result.failures:
        mark_failed()


def _ingest_by_config(path: str, dry_run: bool, as_json: bool) -> None:
    """Ingest what a config.toml of session_memory names."""
    from engram.compat import session_memory

    config = session_memory.read_config(path)
    print_config_notes(path, config.notes)
    with Engram(**config.caps) as engram, Progress(quiet=as_json) as progress:
        result = session_memory.ingest(engram, config, dry_run=dry_run, progress=progress.report_file)
    show_ingested(result, as_json)


def print_config_notes(path: str, notes: tuple[str, ...]) -> None:
    """Name the keys of a config that have no effect here."""
    for note in notes:
        click.echo(click.style(f"{path}: {note}", fg="yellow"), err=True)


def _reject_options_with_config(
    paths: tuple[str, ...], again: bool, watching: bool, since: str | None, flavor: str | None
) -> None:  # fmt: skip
    is_given_by_name = {"paths": bool(paths), "--again": again, "--watch": watching}
    is_given_by_name |= {"--since": since is not None, "--agent": flavor is not None}
    for name in (name for name, is_given in is_given_by_name.items() if is_given):
        raise InvalidInput(field=name, reason="--config names the transcripts to read; leave this out.")


def _run_spool_worker() -> None:
    """Ingest what hooks asked for, in the background; errors go to the hook log, and the next run tries again."""
    started = time.monotonic()
    try:
        if hasattr(os, "nice"):
            os.nice(10)
        with Engram() as engram:
            from engram.dream.worker import run_worker

            run_worker(engram)
    except Exception as problem:
        hook_log.write_entry(
            load_settings().home, "", "capture", time.monotonic() - started, f"{type(problem).__name__}: {problem}"
        )


def _reject_conflicting_options(
    paths: tuple[str, ...], again: bool, dry_run: bool, watching: bool, since: str | None, flavor: str | None
) -> None:  # fmt: skip
    """Refuse options that would be ignored."""
    if watching:
        unfit = {"--again": again, "--dry-run": dry_run, "--since": since is not None, "paths": paths}
        for name, is_given in unfit.items():
            if is_given:
                raise InvalidInput(field=name, reason="--watch reads everything new; leave this out.")
    for name, option_value in (("--since", since), ("--agent", flavor)):
        if paths and option_value is not None:
            raise InvalidInput(field=name, reason="it selects among all transcripts; paths are always read.")


def _watch_transcripts(engram: Engram, flavor: str | None, as_json: bool) -> None:
    from engram.capture.watch import watch_transcripts

    if not as_json:
        click.echo("Watching for new transcript lines. Stop with Ctrl-C.", err=True)
    try:
        for result in watch_transcripts(engram, flavor):
            if result.ingested or as_json:
                show_result(result, as_json)
    except KeyboardInterrupt:
        click.echo("Stopped. Everything ingested so far is kept.", err=True)


COMMANDS = {
    "ingest": click.Command(
        "ingest", callback=ingest_transcripts, help=ingest_transcripts.__doc__,
        params=[
            click.Argument(["paths"], nargs=-1, type=click.Path()),
            click.Option(
                ["--again"], is_flag=True,
                help="Read every transcript from its start. Nothing is stored twice; deleted sessions stay deleted.",
            ),
            click.Option(["--dry-run"], is_flag=True, help="Read, but write nothing."),
            click.Option(["--watch", "watching"], is_flag=True, help="Keep running and ingest new lines as they come."),
            click.Option(["--since"], help="Only transcripts changed since then: 12h, 7d or 2026-11-01."),
            click.Option(["--agent", "flavor"], help="Only transcripts of this agent."),
            click.Option(["--config"], help="Read caps, sources and domains from a config.toml of session_memory."),
            click.Option(["--spool", "spooled"], is_flag=True, hidden=True, help="Ingest what hooks asked for."),
            json_option(),
        ],
    ),
}  # fmt: skip
