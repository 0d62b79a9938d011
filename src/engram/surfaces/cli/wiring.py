"""Commands around wiring: init asks before it writes, uninit takes it back, doctor says what is amiss."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from engram.api import Engram
from engram.errors import Error, InvalidInput, NotFound, SweepRunning
from engram.settings import home_in, load
from engram.surfaces.cli.capture import FAILED, Bar, mark_failed
from engram.surfaces.cli.commands import json_option, show
from engram.surfaces.cli.render_wiring import changes, fitted, past_work, taken_in, tilde, who
from engram.wiring import init as wiring
from engram.wiring.agents import FLAVORS
from engram.wiring.doctor import without_store
from engram.wiring.init import Wired

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engram.model import Capture
    from engram.wiring.plan import Plan

_MOST = 1000  # sessions that are counted at the end
_ROWS = 8  # of the last work that are shown


def init(
    project: str | None, agents: tuple[str, ...], yes: bool, dry_run: bool, no_history: bool, trust_codex: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Give every agent on this machine its memory: hooks and MCP server, then your history.

    Shows what it will write and asks first; what is there stays. `engram uninit` takes it back.
    """
    home = load().home
    plan, program = wiring.planned(home, project, list(agents), trust_codex)
    shown = wiring.told(home, plan, program, dry_run, ())
    if not as_json:
        click.echo(f"{who(shown)}\n")
    if not trust_codex and plan.untrusted and project is None and _may_ask(yes, dry_run, as_json) and _trusts():
        plan, program = wiring.planned(home, project, list(agents), True)
        shown = wiring.told(home, plan, program, dry_run, ())
    if not as_json:
        click.echo(_before(shown, plan))
    if not dry_run:
        shown = _written(home, plan, shown, yes, as_json)
    if as_json:
        show(shown, True)
    else:
        _after(plan, dry_run, no_history)
    _fail_on(shown)


def uninit(project: str | None, agents: tuple[str, ...], yes: bool, dry_run: bool, as_json: bool) -> None:
    """Take Engram out of the agents' files; what others wrote there stays, and so does what is remembered."""
    home = load().home
    plan = wiring.unplanned(home, project, list(agents))
    shown = wiring.told(home, plan, "", dry_run, ())
    if not as_json:
        show(shown, False) if shown.files or shown.problems else click.echo("Nothing of Engram is there.")
    if not dry_run and (plan.changes or plan.gone):
        _agreed(plan, yes or not plan.changes, as_json, "uninit")
        failed = wiring.take_back(home, plan)
        shown = wiring.told(home, plan, "", False, failed)
        _tell_failures(failed, as_json)
        if not as_json and plan.changes:
            click.echo(f"\n{_count(len(plan.changes) - len(failed))} as before. `engram init` wires them again.")
            click.echo(f"What is remembered stays in {tilde(home)}.")
    if as_json:
        show(shown, True)
    _fail_on(shown)


def doctor(quick: bool, as_json: bool) -> None:
    """Show what is well and what needs attention, each with the command that mends it."""
    try:
        with Engram() as engram:
            found = engram.doctor(quick)
    except Error as problem:
        found = without_store(home_in(os.environ), problem)
    show(found, as_json)
    if any(each.level == "problem" for each in found):
        click.get_current_context().meta[FAILED] = True


def _before(shown: Wired, plan: Plan) -> str:
    """Return what is to come, and say it if there is nothing to do."""
    lines = [found] if (found := changes(shown)) else []
    if not plan.agents:
        lines.append("No agent was found here. Name one with --agent, e.g. `engram init --agent claude`.")
    elif not plan.changes and not plan.problems:
        lines.append("All of them are wired already; there is nothing to write.")
    return "\n\n".join(lines)


def _after(plan: Plan, dry_run: bool, no_history: bool) -> None:
    """Show what is already there to be used, and what to do next."""
    if dry_run and plan.changes:
        click.echo("\nNothing was written. `engram init` asks, and then writes it.")
    if dry_run:
        return
    if not no_history:
        _past()
    _next_steps(plan)


def _written(home: str, plan: Plan, shown: Wired, yes: bool, as_json: bool) -> Wired:
    if not plan.changes:
        wiring.carry_out(home, plan)  # nothing to write but the launcher, which may start an older installation
        return shown
    _agreed(plan, yes, as_json, "init")
    try:
        failed = wiring.carry_out(home, plan)
    except KeyboardInterrupt:
        click.echo("\nStopped; `engram uninit` takes back what was written.", err=True)
        raise
    _tell_failures(failed, as_json)
    if not as_json:
        click.echo(f"\n{_count(len(plan.changes) - len(failed))} written. `engram uninit` takes it back.")
    return wiring.told(home, plan, shown.program, False, failed)


def _agreed(plan: Plan, yes: bool, as_json: bool, name: str) -> None:
    """Ask whether to write; without a terminal to ask at, only --yes is an answer."""
    if yes:
        return
    if as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        reason = f"nobody can be asked here. Write with `engram {name} --yes`, or look with --dry-run."
        raise InvalidInput(field="yes", reason=reason)
    click.echo()
    files = _count(len(plan.changes))
    if not click.confirm(f"Write {files}?" if name == "init" else f"Take Engram out of {files}?", default=True):
        click.echo("Nothing was written.")
        raise click.exceptions.Exit(1)


def _may_ask(yes: bool, dry_run: bool, as_json: bool) -> bool:
    return not (yes or dry_run or as_json) and sys.stdin.isatty() and sys.stdout.isatty()


def _trusts() -> bool:
    click.echo(fitted("Codex runs no hook that its user has not trusted. Trust can be written into its config.toml."))
    trusted = click.confirm("Trust Engram's now?", default=False)
    click.echo()
    return trusted


def _past() -> None:
    """Show the past; a store that cannot be used now does not undo the wiring."""
    try:
        _history()
    except Error as problem:
        click.echo(click.style(f"✗ {problem}", fg="red"), err=True)
        click.get_current_context().meta[FAILED] = True


def _history() -> None:
    """Take in what the agents did so far, and show the user's own past work."""
    from engram.capture.intake import sweep

    click.echo("\nReading what your agents did so far …")
    with Engram() as engram:
        try:
            with Bar(quiet=False) as bar:
                found = sweep(engram, progress=bar)
            click.echo(taken_in(found))
            mark_failed(found)
        except SweepRunning as running:
            click.echo(str(running))
        work = engram.list_sessions(limit=_MOST)
        if not work:
            click.echo("\nNo history yet: it begins with the next session. `engram demo` shows it on a made-up one.")
            return
        click.echo(f"\n{past_work(work, _last(engram, work), _MOST)}")
        click.echo("\nAll of it can be asked: `engram recall WORDS`.")


def _last(engram: Engram, work: Sequence[Capture]) -> list[tuple[Capture, str]]:
    """Return the newest work that says what was asked: of each project first, then of any while there is room."""
    found: dict[str, str] = {}
    seen: set[str] = set()
    for anew in (True, False):
        for each in work:
            if len(found) == _ROWS:
                break
            wanted = each.session.id not in found and not (anew and each.session.project in seen)
            if wanted and (asked := _asked(engram, each)):
                seen.add(each.session.project)
                found[each.session.id] = asked
    return [(each, found[each.session.id]) for each in work if each.session.id in found]


def _asked(engram: Engram, capture: Capture) -> str:
    """Return what the user asked for; a title is what some agent made of it."""
    try:
        goal = str(engram.get_digest(capture.session.id).facts.get("goal") or "")
    except NotFound:
        goal = ""
    return goal or capture.title or capture.session.summary


def _next_steps(plan: Plan) -> None:
    wired = [agent for agent in plan.agents if agent.shape != "none"]
    lines = []
    if wired:
        name = (wired[0].programs or (wired[0].title,))[0]
        lines.append(
            f"start {name} in any project; it begins with what is known. `engram doctor` shows that it is heard."
        )
    if plan.untrusted:
        lines.append("start codex once and trust our hooks when it asks (or /hooks); until then it runs none of them.")
    if lines:
        click.echo()
    for line in lines:
        click.echo(click.style("Next:", bold=True) + fitted(f"Next: {line}", "      ").removeprefix("Next:"))


def _tell_failures(failed: tuple[str, ...], as_json: bool) -> None:
    for each in failed if not as_json else ():
        click.echo(click.style(f"✗ {each}", fg="red"), err=True)


def _fail_on(shown: Wired) -> None:
    if shown.problems:
        click.get_current_context().meta[FAILED] = True


def _count(files: int) -> str:
    return f"{files} file{'' if files == 1 else 's'}"


def _shared(verb: str) -> list[click.Parameter]:
    chosen: Any = click.Choice(FLAVORS)
    return [
        click.Option(
            ["-p", "--project"], is_flag=False, flag_value=".",
            help=f"{verb} one project, for all who work there; alone: this one.",
        ),
        click.Option(["--agent", "agents"], multiple=True, type=chosen, help="Only this agent; may be given again."),
        click.Option(["-y", "--yes"], is_flag=True, help="Write without asking."),
        click.Option(["--dry-run"], is_flag=True, help="Show what would be written, and stop."),
    ]  # fmt: skip


WIRING = (
    click.Command(
        "init", callback=init, help=init.__doc__,
        params=[
            *_shared("Wire"),
            click.Option(["--no-history"], is_flag=True, help="Do not take in what the agents did so far."),
            click.Option(["--trust-codex"], is_flag=True, help="Also tell Codex to trust our hooks."),
            json_option(),
        ],
    ),
    click.Command("uninit", callback=uninit, help=uninit.__doc__, params=[*_shared("Unwire"), json_option()]),
    click.Command(
        "doctor", callback=doctor, help=doctor.__doc__,
        params=[
            click.Option(["--quick"], is_flag=True, help="Without reading through the whole store."), json_option(),
        ],
    ),
)  # fmt: skip
