"""`engram dream`: run a pass, preview or undo one, and schedule passes."""

from __future__ import annotations

import time

import click

from engram.api import Engram
from engram.dream.budget import parse_limits
from engram.dream.results import ASKED, FORCED, LOOP, Pass
from engram.errors import DreamRunning, InvalidInput, StoreBusy, StoreFull, StoreUnavailable
from engram.surfaces.cli.options import json_option, limit_option
from engram.surfaces.cli.output import mark_failed, show_result
from engram.surfaces.cli.progress import Progress
from engram.surfaces.cli.render.dream import format_removed_schedule, format_schedule
from engram.surfaces.encode import to_json

_DEFAULT_MINUTES = 30  # between two scheduled passes


def run_dream(
    force: bool, loop: int | None, once: bool, budget: str | None, dry_run: bool,
    undo: int | None, installing: bool, every: int | None, uninstall: bool, idle: bool, as_json: bool,
) -> None:  # fmt: skip
    """Update memory: ingest, summarize, compile the wiki, detect patterns.

    A step runs when enough work is waiting for it. Models are only called within the budget you set.
    """
    if click.get_current_context().invoked_subcommand:
        return
    _reject_conflicting_options(loop=loop is not None, once=once, dry_run=dry_run and not (installing or uninstall),
                     undo=undo is not None, install=installing, uninstall=uninstall)  # fmt: skip
    if every is not None and not installing:
        raise InvalidInput(
            field="--every", reason="--every needs --install. To repeat passes without a schedule, use --loop SECONDS."
        )
    if installing:
        _install_schedule(every or _DEFAULT_MINUTES, dry_run, as_json)
        return
    if uninstall:
        _uninstall_schedule(dry_run, as_json)
        return
    if idle or loop:
        from engram.dream.low_priority import lower_priority

        lower_priority()
    with Engram() as engram:
        if undo is not None:
            show_result(engram.undo_dream(undo), as_json)
        elif dry_run:
            show_result(engram.foresee_dream(force), as_json)
        elif loop:
            _run_loop(engram, force, budget, loop, as_json)
        else:
            _run_once(engram, force, budget, as_json)


def _run_once(engram: Engram, force: bool, budget: str | None, as_json: bool) -> None:
    result = _run_pass(engram, force, budget, FORCED if force else ASKED, as_json)
    show_result(result, as_json)
    if any(step.failed for step in result.steps) and not click.get_current_context().params.get("idle"):
        mark_failed()


def _run_pass(engram: Engram, force: bool, budget: str | None, why: str, quiet: bool) -> Pass:
    from engram.dream.cycle import run_pass

    with Progress(quiet) as progress:
        return run_pass(engram, force=force, limits=parse_limits(engram, budget), why=why, on_step=progress.report_step)


def _run_loop(engram: Engram, force: bool, budget: str | None, pause: int, as_json: bool) -> None:
    """Run passes until Ctrl-C; show those that did something."""
    if not as_json:
        click.echo(f"Dreaming every {pause} s. Stop with Ctrl-C.", err=True)
    try:
        while True:
            try:
                result = _run_pass(engram, force, budget, LOOP, quiet=True)
                if result.id:
                    show_result(result, as_json)
            except (DreamRunning, StoreBusy, StoreFull, StoreUnavailable) as problem:
                click.echo(str(problem), err=True)  # the next round tries again
            time.sleep(pause)
    except KeyboardInterrupt:
        click.echo("Stopped. Finished steps are kept.", err=True)


def _install_schedule(every: int, dry_run: bool, as_json: bool) -> None:
    from engram.dream import schedule

    with Engram() as engram:
        schedule_info = schedule.install(engram, every, dry_run=dry_run)
    click.echo(to_json(schedule_info) if as_json else format_schedule(schedule_info, dry_run=dry_run))


def _uninstall_schedule(dry_run: bool, as_json: bool) -> None:
    from engram.dream import schedule

    with Engram() as engram:
        schedule_info = schedule.uninstall(engram, dry_run=dry_run)
    click.echo(to_json(schedule_info) if as_json else format_removed_schedule(schedule_info, dry_run=dry_run))


def _reject_conflicting_options(**options: bool) -> None:
    option_names = [f"--{name.replace('_', '-')}" for name, is_given in options.items() if is_given]
    if len(option_names) > 1:
        raise InvalidInput(field=option_names[1], reason=f"it cannot be combined with {option_names[0]}.")


def show_dream_log(limit: int, as_json: bool) -> None:
    """Show past passes, what they did and why, newest first."""
    with Engram() as engram:
        show_result(engram.dream_log(limit), as_json, "No pass has run yet. Run `engram dream`.")


def show_drives(as_json: bool) -> None:
    """Show how much work is waiting for every drive, and why."""
    with Engram() as engram:
        show_result(engram.get_drives(), as_json)


_DREAM_GROUP = click.Group(
    "dream", callback=run_dream, help=run_dream.__doc__, invoke_without_command=True,
    params=[
        click.Option(["--force"], is_flag=True, help="Do all waiting work, whatever the thresholds."),
        click.Option(
            ["--loop"], type=click.IntRange(1, 86_400), metavar="SECONDS",
            help="Keep running passes, with a pause of this many seconds.",
        ),
        click.Option(["--once"], is_flag=True, help="Run one pass and exit (the default; for timers)."),
        click.Option(
            ["--budget"], metavar="LIMITS", help='Limits of the pass: time, tokens, money, such as "5m, 50k, $0.20".'
        ),
        click.Option(["--dry-run"], is_flag=True, help="Show what a pass would do, with a diff, and stop."),
        click.Option(["--undo"], type=int, metavar="PASS", help="Undo the changes of a pass."),
        click.Option(["--install", "installing"], is_flag=True, help="Schedule passes with systemd, launchd or cron."),
        click.Option(
            ["--every"], type=click.IntRange(1), metavar="MINUTES",
            help=f"Minutes between scheduled passes. Default: {_DEFAULT_MINUTES}.",
        ),
        click.Option(["--uninstall"], is_flag=True, help="Remove the schedule."),
        click.Option(["--idle"], is_flag=True, help="Run at low priority."),
        json_option(),
    ],
)  # fmt: skip
_DREAM_GROUP.add_command(click.Command(
    "log", callback=show_dream_log, help=show_dream_log.__doc__,
    params=[
        limit_option(10, "passes"),
        json_option(),
    ],
))  # fmt: skip
_DREAM_GROUP.add_command(
    click.Command("drives", callback=show_drives, help=show_drives.__doc__, params=[json_option()])
)

COMMANDS = {"dream": _DREAM_GROUP}
