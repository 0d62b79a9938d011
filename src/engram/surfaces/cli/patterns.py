"""Commands about patterns that are more than one operation: a review, an editor, what asks before it writes."""

from __future__ import annotations

import os
import sys
from functools import wraps
from typing import Any

import click

from engram import host
from engram.api import Engram
from engram.errors import InvalidInput, OnlyPeople
from engram.operation import Operation
from engram.rules import distribute as distributing
from engram.rules import import_catalog as importing
from engram.surfaces.cli.capture import FAILED
from engram.surfaces.cli.commands import json_option, project_at, project_option, show
from engram.surfaces.cli.pattern_review import edited, review
from engram.surfaces.cli.patterns_detect import detect
from engram.text import counted

_DECIDING = frozenset(
    f"{verb}_pattern" for verb in ("approve", "reject", "edit", "retire", "restore")
) | {"merge_patterns"}  # fmt: skip


def by_people(operation: Operation) -> Operation:
    """Return an operation that is refused to agents, if it decides what they are told."""
    if operation.name not in _DECIDING:
        return operation

    @wraps(operation.call)
    def call(engram: Engram, **given: Any) -> Any:
        need_person()
        if operation.name == "approve_pattern" and given.get("rule") is None:
            given |= _read(engram, given["pattern"], given.get("fix"))
        return operation.call(engram, **given)

    return Operation(name=operation.name, call=call, writes=operation.writes, agent=operation.agent)


def need_person() -> None:
    """Refuse an agent that runs us in its shell: several give their commands a terminal, so that one proves nothing."""
    above = host.agent()
    if above is not None and not _in_editor(above[1]):
        raise OnlyPeople(agent=above[1])


def _in_editor(agent: str) -> bool:
    """Tell whether a person may sit in the terminal of an editor that has an agent in it."""
    return agent == "cursor" and sys.stdin.isatty() and not os.environ.get("CURSOR_AGENT")


def _read(engram: Engram, pattern: str, fix: str | None) -> dict[str, str]:
    """Show a person the proposed words they are about to approve; return these, whatever comes in meanwhile."""
    found = engram.get_pattern(pattern).pattern
    if found.version or not sys.stdin.isatty():
        return {}
    words = {"rule": found.rule, "fix": found.fix if fix is None else fix}
    click.echo("\n".join([words["rule"], *(f"Fix: {line}" for line in words["fix"].splitlines())]), err=True)
    if not click.confirm("Tell agents that?", default=True, err=True):
        click.echo("Nothing was approved.", err=True)
        raise click.exceptions.Exit(1)
    return words


def edit(
    pattern: str, rule: str | None, fix: str | None, scope: str | None, author: str | None, reason: str, as_json: bool
) -> None:
    """Change the rule of a pattern: with options, or in your editor; the versions before stay."""
    need_person()
    with Engram() as engram:
        found = engram.get_pattern(pattern).pattern
        if rule is None and fix is None and scope is None:
            new_words = edited(found.rule, found.fix)
            if new_words is None:
                click.echo("Nothing was changed.")
                return
            rule, fix = new_words
        new = engram.edit_pattern(found.id, rule, fix, scope, author, reason, found.version)
        show(new, as_json)


def review_all(author: str | None, limit: int, as_json: bool) -> None:
    """Decide about candidates one by one: approve, edit, reject, skip, merge. Stop at any time and go on later."""
    need_person()
    with Engram() as engram:
        done = review(engram, author, limit, quiet=as_json)
        show(done, True) if as_json else click.echo(_came_to(done))


def import_catalog(directory: str, author: str | None, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Take over changed files of a catalog as new versions; shows them first.

    A file that says `state: approved` is approved by you when you import it: read the diff.
    """
    need_person()
    with Engram() as engram:
        seen = importing.look(engram, directory)
        found = importing.told(seen, dry_run=dry_run)
        if not as_json:
            show(found, False)
        if not dry_run and found.taken:
            count = counted(len(found.taken), "change")
            _agreed(f"Take over {count}, {found.approvals} of them approved by you?", yes, as_json)
            found = importing.take(engram, seen, author)
            _taken(found, seen, as_json)
        show(found, True) if as_json else None
        if found.refused:
            click.get_current_context().meta[FAILED] = True


def _taken(found: importing.ImportedCatalog, seen: importing.Look, as_json: bool) -> None:
    if as_json:
        return
    for each in found.refused[len(seen.refused) :]:
        click.echo(click.style(f"✗ {each}", fg="red"), err=True)
    click.echo(f"Took over {len(found.taken)}.")


def distribute(
    files: bool, undo: bool, project: str | None, flavor: str | None, dry_run: bool, yes: bool, as_json: bool
) -> None:
    """Bring approved rules to the agents: into what sessions are told, and with --files into the files they read.

    Shows the diff and asks first; what stands around our block stays. --undo takes every rule out again.
    """
    need_person()
    with Engram() as engram:
        plan = distributing.planned(engram, files, undo, project_at(project), flavor)
        found = distributing.told(engram, plan, dry_run, ())
        if not as_json:
            show(found, False)
        if not dry_run:
            if found.files:
                count = counted(len(found.files), "file")
                _agreed(f"Take the rules out of {count}?" if undo else f"Write {count}?", yes, as_json)
            failed = distributing.carry_out(engram, plan)
            found = distributing.told(engram, plan, dry_run, failed)
            _after(found, failed, as_json)
        show(found, True) if as_json else None
        if found.problems:
            click.get_current_context().meta[FAILED] = True


def _after(found: distributing.Distributed, failed: tuple[str, ...], as_json: bool) -> None:
    if as_json:
        return
    for each in failed:
        click.echo(click.style(f"✗ {each}", fg="red"), err=True)
    done = counted(len(found.files) - len(failed), "file")
    if found.undo:
        again = "Approved rules are told again with `engram patterns distribute`."
        click.echo(f"{done} as before. {again}" if found.files else again)
    elif found.files:
        click.echo(f"{done} written. `engram patterns distribute --undo` takes it back.")


def _agreed(question: str, yes: bool, as_json: bool) -> None:
    """Ask a person; without somebody to ask, only --yes is an answer."""
    if yes:
        return
    if as_json or not sys.stdin.isatty():
        reason = "nobody can be asked here. Say the same with --yes, or look with --dry-run."
        raise InvalidInput(field="--yes", reason=reason)
    if not click.confirm(question, default=True):
        click.echo("Nothing was written.")
        raise click.exceptions.Exit(1)


def _came_to(done: dict[str, int]) -> str:
    told = ", ".join(f"{count} {word}" for word, count in done.items() if count and word != "left")
    rest = f"{done['left']} left for later." if done["left"] else "Nothing waits any more."
    return f"{told[:1].upper()}{told[1:]}. {rest}" if told else rest


def _author() -> click.Option:
    return click.Option(["--author"], help="Who decides, if not you.")


_YES = click.Option(["-y", "--yes"], is_flag=True, help="Write without asking.")
_DRY = click.Option(["--dry-run"], is_flag=True, help="Show what would be written, and stop.")

PATTERNS = (
    detect,
    click.Command(
        "edit", callback=edit, help=edit.__doc__,
        params=[
            click.Argument(["pattern"]),
            click.Option(["--rule"], help="What agents are told, in one to five lines."),
            click.Option(["--fix"], help="What to do instead."),
            click.Option(["--scope"], help="Global, project:PATH or flavor:NAME."),
            _author(), click.Option(["--reason"], default="", help="Why."), json_option(),
        ],
    ),
    click.Command(
        "review", callback=review_all, help=review_all.__doc__,
        params=[
            _author(), click.Option(["-n", "--limit"], type=int, default=50, help="At most so many."), json_option(),
        ],
    ),
    click.Command(
        "import", callback=import_catalog, help=import_catalog.__doc__,
        params=[click.Argument(["directory"]), _author(), _DRY, _YES, json_option()],
    ),
    click.Command(
        "distribute", callback=distribute, help=distribute.__doc__,
        params=[
            click.Option(["--files"], is_flag=True, help="Write the agents' own files too."),
            click.Option(["--undo"], is_flag=True, help="Take every rule out again, of context and files."),
            project_option(),
            click.Option(["--flavor"], help="Only the files of this agent."),
            _DRY, _YES, json_option(),
        ],
    ),
)  # fmt: skip
