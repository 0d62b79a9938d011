"""The dream on the command line: one pass or many, what it would do, what it did, and its timer."""

from __future__ import annotations

import sys
import time

import click

from engram.api import Engram
from engram.dream.budget import limits_of
from engram.dream.done import ASKED, FORCED, LOOP, Pass
from engram.errors import DreamRunning, InvalidInput, StoreBusy, StoreFull, StoreUnavailable
from engram.surfaces.cli import capture
from engram.surfaces.cli.commands import json_option, show
from engram.surfaces.cli.render_dream import scheduled, unscheduled
from engram.surfaces.encode import to_json

_EVERY = 30  # minutes between two passes of a timer
_STOPPED = "Stopped; what was done is kept."


def dream(
    force: bool, loop: int | None, once: bool, budget: str | None, dry_run: bool,
    undo: int | None, installing: bool, every: int | None, uninstall: bool, idle: bool, as_json: bool,
) -> None:  # fmt: skip
    """Tend the memory: take in, flush, summarize, integrate, compile, detect, reflect, clean up.

    It acts where enough waits; with nothing to do it is over at once. It asks no model unless you give it money.
    """
    if click.get_current_context().invoked_subcommand:
        return
    _refuse_together(loop=loop is not None, once=once, dry_run=dry_run and not (installing or uninstall),
                     undo=undo is not None, install=installing, uninstall=uninstall)  # fmt: skip
    if every is not None and not installing:
        raise InvalidInput(field="--every", reason="it goes with --install; --loop takes seconds.")
    if installing:
        _install(every or _EVERY, dry_run, as_json)
        return
    if uninstall:
        _uninstall(dry_run, as_json)
        return
    if idle or loop:
        from engram.dream.idle import idle as stand_back

        stand_back()
    with Engram() as engram:
        if undo is not None:
            show(engram.undo_dream(undo), as_json)
        elif dry_run:
            show(engram.foresee_dream(force), as_json)
        elif loop:
            _loop(engram, force, budget, loop, as_json)
        else:
            _once(engram, force, budget, as_json)


def _once(engram: Engram, force: bool, budget: str | None, as_json: bool) -> None:
    try:
        _show(_pass(engram, force, budget, FORCED if force else ASKED, as_json), as_json)
    except KeyboardInterrupt:
        click.echo(_STOPPED, err=True)
        raise click.exceptions.Exit(1) from None


def _pass(engram: Engram, force: bool, budget: str | None, why: str, quiet: bool) -> Pass:
    from engram.dream.cycle import dreamt

    shown = not quiet and sys.stderr.isatty()
    told = (lambda step: click.echo(f"\r{step:<12}", nl=False, err=True)) if shown else None
    found = dreamt(engram, force=force, limits=limits_of(engram, budget), why=why, told=told)
    if shown:
        click.echo("\r            \r", nl=False, err=True)
    return found


def _show(found: Pass, as_json: bool) -> None:
    show(found, as_json)
    if any(each.failed for each in found.steps) and not click.get_current_context().params.get("idle"):
        click.get_current_context().meta[capture.FAILED] = True


def _loop(engram: Engram, force: bool, budget: str | None, pause: int, as_json: bool) -> None:
    """Make passes until somebody stops us; tell those that did something."""
    if not as_json:
        click.echo(f"Dreaming every {pause} s; stop with Ctrl-C.", err=True)
    try:
        while True:
            try:
                found = _pass(engram, force, budget, LOOP, quiet=True)
                if found.id:
                    show(found, as_json)
            except (DreamRunning, StoreBusy, StoreFull, StoreUnavailable) as problem:
                click.echo(str(problem), err=True)  # and try again: it may be over by then
            time.sleep(pause)
    except KeyboardInterrupt:
        click.echo(_STOPPED, err=True)


def _install(every: int, dry_run: bool, as_json: bool) -> None:
    from engram.dream import schedule

    with Engram() as engram:
        known = schedule.install(engram, every, dry_run=dry_run)
    click.echo(to_json(known) if as_json else scheduled(known, dry_run=dry_run))


def _uninstall(dry_run: bool, as_json: bool) -> None:
    from engram.dream import schedule

    with Engram() as engram:
        known = schedule.uninstall(engram, dry_run=dry_run)
    click.echo(to_json(known) if as_json else unscheduled(known, dry_run=dry_run))


def _refuse_together(**given: bool) -> None:
    named = [f"--{name.replace('_', '-')}" for name, each in given.items() if each]
    if len(named) > 1:
        raise InvalidInput(field=named[1], reason=f"it does not go with {named[0]}.")


def log(limit: int, as_json: bool) -> None:
    """Show what the dream did and why, newest first."""
    with Engram() as engram:
        show(engram.dream_log(limit), as_json, "It has not dreamt yet: `engram dream`.")


def drives(as_json: bool) -> None:
    """Show how much each drive presses now, and why."""
    with Engram() as engram:
        show(engram.get_drives(), as_json)


DREAM = click.Group(
    "dream", callback=dream, help=dream.__doc__, invoke_without_command=True,
    params=[
        click.Option(["--force"], is_flag=True, help="Act on all that waits, whatever the thresholds."),
        click.Option(
            ["--loop"], type=click.IntRange(1, 86_400), metavar="SECONDS",
            help="Go on, with a pause of so many seconds.",
        ),
        click.Option(["--once"], is_flag=True, help="One pass, then leave: what happens anyway; for timers."),
        click.Option(
            ["--budget"], metavar="LIMITS", help='Limits of a pass: time, tokens, money; e.g. "5m, 50k, $0.20".'
        ),
        click.Option(["--dry-run"], is_flag=True, help="Show what a pass would do and the diff it would make."),
        click.Option(["--undo"], type=int, metavar="PASS", help="Undo what a pass changed."),
        click.Option(["--install", "installing"], is_flag=True, help="Let the system run a pass every while."),
        click.Option(
            ["--every"], type=click.IntRange(1), metavar="MINUTES", help=f"How often; {_EVERY} if not said."
        ),
        click.Option(["--uninstall"], is_flag=True, help="Take that back."),
        click.Option(["--idle"], is_flag=True, help="Behind everything else the machine does."),
        json_option(),
    ],
)  # fmt: skip
DREAM.add_command(click.Command(
    "log", callback=log, help=log.__doc__,
    params=[
        click.Option(
            ["-n", "--limit"], type=click.IntRange(1), default=10, show_default=True, help="At most so many passes."
        ),
        json_option(),
    ],
))  # fmt: skip
DREAM.add_command(click.Command("drives", callback=drives, help=drives.__doc__, params=[json_option()]))
