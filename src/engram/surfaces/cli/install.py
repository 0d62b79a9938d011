"""`engram init`, `engram uninit` and `engram doctor`."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from engram.agents.agent import NO_HOOKS
from engram.api import Engram
from engram.errors import Error, MissingInput, NotFound, SweepRunning
from engram.install import init
from engram.install.agents import list_connectable
from engram.install.doctor import check_without_store
from engram.install.init import WiringReport
from engram.settings import get_home_directory, load_settings
from engram.summaries.playbook.highlights import find_highlights
from engram.surfaces.cli.options import json_option, yes_option
from engram.surfaces.cli.output import mark_failed, show_result
from engram.surfaces.cli.progress import Progress
from engram.surfaces.cli.render.install import (
    format_agents,
    format_changes,
    format_highlights,
    format_ingested,
    format_past_work,
)
from engram.surfaces.cli.render.layout import shorten_home, wrap_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engram.agents.agent import Agent
    from engram.install.plan import WiringPlan
    from engram.types import Capture

_FIRST_LIMITS = "1m, $0"  # limits of the pass that `engram init` makes: no model
_MAX_SESSIONS = 1000  # sessions that are counted at the end
_MAX_ROWS = 8  # of the last work that are shown


def connect_agents(
    project: str | None, agents: tuple[str, ...], yes: bool, dry_run: bool, no_history: bool, trust_codex: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Connect your agents to Engram and read their history.

    Adds hooks and the MCP server to their configuration, after showing the diff and asking. `engram uninit` undoes it.
    """
    home = load_settings().home
    plan, program = init.plan_init(home, project, list(agents), trust_codex)
    wired = init.build_report(home, plan, program, dry_run, ())
    if not as_json:
        click.echo(f"{format_agents(wired)}\n")
    if not trust_codex and plan.untrusted and project is None and _can_ask(yes, dry_run, as_json) and _ask_trust(plan):
        plan, program = init.plan_init(home, project, list(agents), True)
        wired = init.build_report(home, plan, program, dry_run, ())
    if not as_json:
        click.echo(_format_plan(wired, plan))
    if not dry_run:
        wired = _write_plan(home, plan, wired, yes, as_json)
    if as_json:
        show_result(wired, True)
    else:
        if not (dry_run or no_history):
            _try_show_history()
        if project is None:
            _offer_model(_can_ask(yes, dry_run, as_json), dry_run)
        _show_next_steps(plan, dry_run)
    _fail_on_problems(wired)


def disconnect_agents(project: str | None, agents: tuple[str, ...], yes: bool, dry_run: bool, as_json: bool) -> None:
    """Remove Engram from your agents' configuration. What is remembered stays."""
    home = load_settings().home
    plan = init.plan_uninit(home, project, list(agents))
    wired = init.build_report(home, plan, "", dry_run, ())
    if not as_json:
        show_result(wired, False) if wired.files or wired.problems else click.echo("No agent is connected.")
    if not dry_run and (plan.changes or plan.gone):
        _confirm_changes(plan, yes or not plan.changes, as_json, "uninit")
        failed = init.apply_uninit(home, plan)
        wired = init.build_report(home, plan, "", False, failed)
        _print_failures(failed, as_json)
        if not as_json and plan.changes:
            click.echo(
                f"\nRestored {_format_file_count(len(plan.changes) - len(failed))}. `engram init` connects them again."
            )
            click.echo(f"Your sessions stay in {shorten_home(home)}.")
    if as_json:
        show_result(wired, True)
    _fail_on_problems(wired)


def run_doctor(quick: bool, as_json: bool) -> None:
    """Check the installation and say how to fix what is wrong."""
    try:
        with Engram() as engram:
            findings = engram.doctor(quick)
    except Error as problem:
        findings = check_without_store(get_home_directory(os.environ), problem)
    show_result(findings, as_json)
    if any(finding.level == "problem" for finding in findings):
        mark_failed()


def _format_plan(wired: WiringReport, plan: WiringPlan) -> str:
    """Return the planned changes, or why there are none."""
    lines = [change_text] if (change_text := format_changes(wired)) else []
    if not plan.agents:
        example = list_connectable()[0].name
        lines.append(f"No agents found. Name one, for example `engram init --agent {example}`.")
    elif not plan.changes and not plan.problems:
        lines.append("All of them are connected already.")
    return "\n\n".join(lines)


def _offer_model(ask: bool, dry_run: bool) -> None:
    from engram.surfaces.cli.model_offer import offer_model

    offer_model(ask, dry_run)


def _show_next_steps(plan: WiringPlan, dry_run: bool) -> None:
    """Show what to do next."""
    if not dry_run:
        _print_next_steps(plan)
    elif plan.changes:
        click.echo("\nNothing was written. Run `engram init` to write it.")


def _write_plan(home: str, plan: WiringPlan, wired: WiringReport, yes: bool, as_json: bool) -> WiringReport:
    if not plan.changes:
        init.apply_init(home, plan)  # only the launcher, which may point to an older installation
        return wired
    _confirm_changes(plan, yes, as_json, "init")
    try:
        failed = init.apply_init(home, plan)
    except KeyboardInterrupt:
        click.echo("\nStopped. `engram uninit` removes what was written.", err=True)
        raise click.exceptions.Exit(130) from None
    _print_failures(failed, as_json)
    if not as_json:
        click.echo(f"\nWrote {_format_file_count(len(plan.changes) - len(failed))}. Undo with `engram uninit`.")
    return init.build_report(home, plan, wired.program, False, failed)


def _confirm_changes(plan: WiringPlan, yes: bool, as_json: bool, name: str) -> None:
    """Ask whether to write; without a terminal, require --yes."""
    if yes:
        return
    if as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        reason = f"Not a terminal; run `engram {name} --yes` to write, or --dry-run to look first."
        raise MissingInput(field="yes", reason=reason)
    click.echo()
    files = _format_file_count(len(plan.changes))
    if not click.confirm(f"Write {files}?" if name == "init" else f"Remove Engram from {files}?", default=True):
        click.echo("Nothing was written.")
        raise click.exceptions.Exit(1)


def _can_ask(yes: bool, dry_run: bool, as_json: bool) -> bool:
    return not (yes or dry_run or as_json) and sys.stdin.isatty() and sys.stdout.isatty()


def _ask_trust(plan: WiringPlan) -> bool:
    click.echo(wrap_text(f"{plan.trusting_agent} only runs hooks you trust. Engram can mark its hooks as trusted."))
    trusted = click.confirm("Trust Engram's hooks now?", default=False)
    click.echo()
    return trusted


def _try_show_history() -> None:
    """Show past work; a store that cannot be used now does not undo the connection."""
    try:
        _ingest_and_show_history()
    except Error as problem:
        click.echo(click.style(f"✗ {problem}", fg="red"), err=True)
        mark_failed()


def _ingest_and_show_history() -> None:
    """Ingest what the agents did so far and show the user's own past work."""
    from engram.capture.ingest_run import run_sweep

    click.echo("\nReading your agents' history …")
    with Engram() as engram:
        try:
            with Progress(quiet=False) as progress:
                result = run_sweep(engram, progress=progress.report_file)
            click.echo(format_ingested(result))
            if result.failures:
                mark_failed()
        except SweepRunning as running:
            click.echo(str(running))
        captures = engram.list_sessions(limit=_MAX_SESSIONS)
        if not captures:
            click.echo(
                "\nNo history yet. It begins with your next session; `engram demo` shows what it will look like."
            )
            return
        click.echo(f"\n{format_past_work(captures, _select_recent_work(engram, captures), _MAX_SESSIONS)}")
        _write_first_pages(engram)
        highlights = find_highlights(engram)
        if highlights:
            click.echo(f"\n{format_highlights(highlights)}")
        click.echo("\nSearch all of it with `engram recall WORDS`; `engram playbook PROJECT` is what one must know.")


def _write_first_pages(engram: Engram) -> None:
    """Write summaries, pages and patterns of the history that was just read, without a model and within a minute."""
    click.echo("\nWriting summaries and pages …")
    try:
        engram.dream(force=True, budget=_FIRST_LIMITS)
    except Error as problem:  # another pass is running, or will go on later
        click.echo(str(problem))


def _select_recent_work(engram: Engram, captures: Sequence[Capture]) -> list[tuple[Capture, str]]:
    """Return the newest work: the last of every project first, then others while there is room."""
    requests_by_session: dict[str, str] = {}
    seen_projects: set[str] = set()
    for only_new_projects in (True, False):
        for capture in captures:
            if len(requests_by_session) == _MAX_ROWS:
                break
            is_wanted = capture.session.id not in requests_by_session and not (
                only_new_projects and capture.session.project in seen_projects
            )
            if is_wanted and (request := _find_request(engram, capture)):
                seen_projects.add(capture.session.project)
                requests_by_session[capture.session.id] = request
    return [
        (capture, requests_by_session[capture.session.id])
        for capture in captures
        if capture.session.id in requests_by_session
    ]


def _find_request(engram: Engram, capture: Capture) -> str:
    """Return what the user asked for, or else the title."""
    try:
        goal = str(engram.get_digest(capture.session.id).facts.get("goal") or "")
    except NotFound:
        goal = ""
    return goal or capture.title or capture.session.summary


def _print_next_steps(plan: WiringPlan) -> None:
    line = _describe_first_start(plan)
    if line:
        line = f"Next: {line} Run `engram doctor` to check that the hooks fire."
        click.echo("\n" + click.style("Next:", bold=True) + wrap_text(line, "", "      ").removeprefix("Next:"))


def _describe_first_start(plan: WiringPlan) -> str:
    """Return which agent to start; one that asks its user for trust runs no hook before."""
    wired = [agent for agent in plan.agents if agent.hook_layout != NO_HOOKS]
    ready = [agent for agent in wired if not (plan.untrusted and agent.trusts_hooks_by_text)]
    if not ready:
        return f"start {_name_program(wired[0])} and trust Engram's hooks when it asks." if wired else ""
    waiting = f" {plan.trusting_agent} ignores the hooks until you start it and trust them." if wired != ready else ""
    return f"start {_name_program(ready[0])} in any project.{waiting}"


def _name_program(agent: Agent) -> str:
    return (agent.programs or (agent.title,))[0]


def _print_failures(failed: tuple[str, ...], as_json: bool) -> None:
    for failure in failed if not as_json else ():
        click.echo(click.style(f"✗ {failure}", fg="red"), err=True)


def _fail_on_problems(wired: WiringReport) -> None:
    if wired.problems:
        mark_failed()


def _format_file_count(files: int) -> str:
    return f"{files} file{'' if files == 1 else 's'}"


def _build_shared_options(verb: str) -> list[click.Parameter]:
    agent_choice: Any = click.Choice([agent.name for agent in list_connectable()])
    return [
        click.Option(
            ["-p", "--project"],
            is_flag=False,
            flag_value=".",
            help=f"{verb} one project, for everyone who works there. Without a value: the current directory.",
        ),
        click.Option(["--agent", "agents"], multiple=True, type=agent_choice, help="Only this agent; can be repeated."),
        yes_option(),
        click.Option(["--dry-run"], is_flag=True, help="Show what would be written, and stop."),
    ]


COMMANDS = {
    "init": click.Command(
        "init",
        callback=connect_agents,
        help=connect_agents.__doc__,
        params=[
            *_build_shared_options("Connect"),
            click.Option(["--no-history"], is_flag=True, help="Do not read the agents' history."),
            click.Option(
                ["--trust-hooks", "--trust-codex", "trust_codex"],
                is_flag=True,
                help="Also mark Engram's hooks as trusted where an agent asks for it.",
            ),
            json_option(),
        ],
    ),
    "uninit": click.Command(
        "uninit",
        callback=disconnect_agents,
        help=disconnect_agents.__doc__,
        params=[*_build_shared_options("Disconnect"), json_option()],
    ),
    "doctor": click.Command(
        "doctor",
        callback=run_doctor,
        help=run_doctor.__doc__,
        params=[
            click.Option(["--quick"], is_flag=True, help="Skip the check of the whole store."),
            json_option(),
        ],
    ),
}
