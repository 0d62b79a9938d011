"""Commands about patterns and rules that only a person may run: review, edit, import, distribute."""

from __future__ import annotations

import sys
from typing import Any

import click

from engram.agents import running
from engram.agents.registry import find_agent
from engram.api import Engram
from engram.errors import MissingInput, OnlyPeople
from engram.hub import Hub
from engram.operation import Operation
from engram.patterns.rules import distribute
from engram.patterns.rules import import_catalog as importing
from engram.patterns.rules.catalog import get_pattern
from engram.platform.text import format_count
from engram.surfaces.cli.options import find_project, json_option, limit_option, project_option, yes_option
from engram.surfaces.cli.output import mark_failed, show_result
from engram.surfaces.cli.pattern_review import prompt_rule_edit, review_candidates


def run_decision(hub: Hub, operation: Operation, arguments: dict[str, Any]) -> Any:
    """Run an operation that decides what agents are told; agents may not."""
    require_person()
    return operation.call(hub, **arguments)


def run_approval(hub: Hub, operation: Operation, arguments: dict[str, Any]) -> Any:
    """Approve a rule, after showing its words unless they were given."""
    require_person()
    if arguments.get("rule") is None:
        arguments |= _confirm_proposed_rule(hub, arguments["pattern"], arguments.get("fix"))
    return operation.call(hub, **arguments)


def require_person() -> None:
    """Refuse agents. A terminal proves nothing: several agents give one to the commands they run."""
    running_agent = running.find_running_agent()
    agent = find_agent(running_agent[1]) if running_agent else None
    if agent is not None and not agent.has_person_at_terminal():
        raise OnlyPeople(agent=agent.name)


def _confirm_proposed_rule(hub: Hub, pattern: str, fix: str | None) -> dict[str, str]:
    """Show the proposed rule and ask; return exactly what was shown, whatever changes meanwhile."""
    candidate = get_pattern(hub, pattern).pattern
    if candidate.version or not sys.stdin.isatty():
        return {}
    words = {"rule": candidate.rule, "fix": candidate.fix if fix is None else fix}
    click.echo("\n".join([words["rule"], *(f"Fix: {line}" for line in words["fix"].splitlines())]), err=True)
    if not click.confirm("Approve this rule for agents?", default=True, err=True):
        click.echo("Nothing was approved.", err=True)
        raise click.exceptions.Exit(1)
    return words


def edit_pattern(
    pattern: str, rule: str | None, fix: str | None, scope: str | None, author: str | None, reason: str, as_json: bool
) -> None:
    """Change the rule of a pattern, with options or in your editor. Older versions are kept."""
    require_person()
    with Engram() as engram:
        current = engram.get_pattern(pattern).pattern
        if rule is None and fix is None and scope is None:
            new_words = prompt_rule_edit(current.rule, current.fix)
            if new_words is None:
                click.echo("Nothing was changed.")
                return
            rule, fix = new_words
        edited_pattern = engram.edit_pattern(current.id, rule, fix, scope, author, reason, current.version)
        show_result(edited_pattern, as_json)


def review_patterns(author: str | None, limit: int, as_json: bool) -> None:
    """Review candidates one by one: approve, edit, reject, skip or merge.

    You can stop at any time and continue later.
    """
    require_person()
    with Engram() as engram:
        counts = review_candidates(engram, author, limit, quiet=as_json)
        show_result(counts, True) if as_json else click.echo(_format_review_counts(counts))


def import_catalog(directory: str, author: str | None, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Import changed files of a catalog as new versions, after showing them.

    A file with `state: approved` is approved by you when you import it: read the diff.
    """
    require_person()
    with Engram() as engram:
        preview = importing.preview_import(engram, directory)
        result = importing.build_result(preview, dry_run=dry_run)
        if not as_json:
            show_result(result, False)
        if not dry_run and result.taken:
            count = format_count(len(result.taken), "change")
            _confirm_or_exit(f"Import {count}, approving {result.approvals}?", yes, as_json)
            result = importing.apply_import(engram, preview, author)
            _print_import_result(result, preview, as_json)
        show_result(result, True) if as_json else None
        if result.refused:
            mark_failed()


def _print_import_result(result: importing.ImportedCatalog, preview: importing.CatalogPreview, as_json: bool) -> None:
    if as_json:
        return
    for refusal in result.refused[len(preview.refused) :]:
        click.echo(click.style(f"✗ {refusal}", fg="red"), err=True)
    click.echo(f"Imported {len(result.taken)}.")


def distribute_rules(
    files: bool, undo: bool, project: str | None, flavor: str | None, dry_run: bool, yes: bool, as_json: bool
) -> None:
    """Give approved rules to agents: in the context of new sessions, and with --files in their rule files.

    Shows the diff and asks first; only our own block in a file changes. --undo removes every rule again.
    """
    require_person()
    with Engram() as engram:
        plan = distribute.plan_distribution(engram, files, undo, find_project(engram, project), flavor)
        result = distribute.build_result(engram, plan, dry_run, ())
        if not as_json:
            show_result(result, False)
        if not dry_run:
            if result.files:
                count = format_count(len(result.files), "file")
                _confirm_or_exit(f"Remove the rules from {count}?" if undo else f"Write {count}?", yes, as_json)
            failed = distribute.apply_plan(engram, plan)
            result = distribute.build_result(engram, plan, dry_run, failed)
            _print_distribution(result, failed, as_json)
        show_result(result, True) if as_json else None
        if result.problems:
            mark_failed()


def _print_distribution(result: distribute.DistributeResult, failed: tuple[str, ...], as_json: bool) -> None:
    if as_json:
        return
    for failure in failed:
        click.echo(click.style(f"✗ {failure}", fg="red"), err=True)
    file_count = format_count(len(result.files) - len(failed), "file")
    if result.undo:
        hint = "Distribute approved rules again with `engram patterns distribute`."
        click.echo(f"Restored {file_count}. {hint}" if result.files else hint)
    elif result.files:
        click.echo(f"Wrote {file_count}. Undo with `engram patterns distribute --undo`.")


def _confirm_or_exit(question: str, yes: bool, as_json: bool) -> None:
    """Ask for confirmation; without a terminal, require --yes."""
    if yes:
        return
    if as_json or not sys.stdin.isatty():
        reason = "Not a terminal; pass --yes to confirm, or --dry-run to look first."
        raise MissingInput(field="--yes", reason=reason)
    if not click.confirm(question, default=True):
        click.echo("Nothing was written.")
        raise click.exceptions.Exit(1)


def _format_review_counts(counts: dict[str, int]) -> str:
    summary = ", ".join(f"{count} {word}" for word, count in counts.items() if count and word != "left")
    rest = f"{counts['left']} left for later." if counts["left"] else "No candidates are left."
    return f"{summary[:1].upper()}{summary[1:]}. {rest}" if summary else rest


def _build_author_option() -> click.Option:
    return click.Option(["--author"], help="Author of the decision. Default: you.")


_DRY_RUN_OPTION = click.Option(["--dry-run"], is_flag=True, help="Show what would be written, and stop.")

COMMANDS = {
    "patterns edit": click.Command(
        "edit",
        callback=edit_pattern,
        help=edit_pattern.__doc__,
        params=[
            click.Argument(["pattern"]),
            click.Option(["--rule"], help="The rule for agents, in one to five lines."),
            click.Option(["--fix"], help="What to do instead."),
            click.Option(["--scope"], help="Where it applies: global, project:PATH or flavor:NAME."),
            _build_author_option(),
            click.Option(["--reason"], default="", help="Reason for the change."),
            json_option(),
        ],
    ),
    "patterns review": click.Command(
        "review",
        callback=review_patterns,
        help=review_patterns.__doc__,
        params=[
            _build_author_option(),
            limit_option(50, "candidates", "review"),
            json_option(),
        ],
    ),
    "patterns import": click.Command(
        "import",
        callback=import_catalog,
        help=import_catalog.__doc__,
        params=[click.Argument(["directory"]), _build_author_option(), _DRY_RUN_OPTION, yes_option(), json_option()],
    ),
    "patterns distribute": click.Command(
        "distribute",
        callback=distribute_rules,
        help=distribute_rules.__doc__,
        params=[
            click.Option(["--files"], is_flag=True, help="Also write the agents' rule files."),
            click.Option(["--undo"], is_flag=True, help="Remove every rule from context and files."),
            project_option(),
            click.Option(["--agent", "flavor"], help="Only files of this agent."),
            _DRY_RUN_OPTION,
            yes_option(),
            json_option(),
        ],
    ),
}
