"""Review of candidates in the terminal, one after the other; every decision takes effect immediately."""

from __future__ import annotations

import sys

import click

from engram.api import Engram
from engram.errors import Error
from engram.patterns.rules.catalog import Pattern
from engram.surfaces.cli.render import render

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_KEYS = {"a": "approve", "e": "edit", "r": "reject", "s": "skip", "m": "merge", "q": "quit"}
_FIX_PREFIX = "Fix: "
_QUESTION = " ".join(f"[{word[0]}]{word[1:]}" for word in _KEYS.values())


class _ReviewStopped(Exception):
    """The person quit the review."""


def review_candidates(engram: Engram, author: str | None, limit: int, *, quiet: bool) -> dict[str, int]:
    """Ask about every candidate and count the decisions."""
    candidates = engram.list_patterns("candidate", limit=limit)
    counts = {"approved": 0, "rejected": 0, "merged": 0, "skipped": 0, "left": len(candidates)}
    for number, candidate in enumerate(candidates, 1):
        try:
            decision = _decide_candidate(engram, candidate, author, f"{number} of {len(candidates)}", quiet)
        except (_ReviewStopped, click.Abort):
            break
        counts[decision] += 1
        counts["left"] -= decision != "skipped"
    return counts


def prompt_rule_edit(rule: str, fix: str) -> tuple[str, str] | None:
    """Let a person change a rule and its fix, in the editor or at a prompt; return None if nothing changed."""
    if not sys.stdin.isatty():
        new_rule = click.prompt("Rule", default=rule, show_default=False, err=True).strip()
        new_fix = click.prompt("Fix (- for none)", default=fix or "-", show_default=False, err=True).strip()
        new_words = (new_rule, "" if new_fix == "-" else new_fix)
    else:
        lines = (
            click.edit("\n".join([rule, *(f"{_FIX_PREFIX}{line}" for line in fix.splitlines())])) or ""
        ).splitlines()
        fix_lines = [line.removeprefix(_FIX_PREFIX) for line in lines if line.startswith(_FIX_PREFIX)]
        new_words = (
            "\n".join(line for line in lines if not line.startswith(_FIX_PREFIX)).strip(),
            "\n".join(fix_lines).strip(),
        )
    return None if not new_words[0] or new_words == (rule, fix) else new_words


def _decide_candidate(engram: Engram, pattern: Pattern, author: str | None, progress: str, quiet: bool) -> str:
    """Ask until one candidate is decided."""
    dossier = engram.get_pattern(pattern.id)
    pattern = dossier.pattern  # the version that is shown is the one that is approved
    if not quiet:
        click.echo(f"\n{click.style(progress, dim=True)}\n{render(dossier)}\n")
    while True:
        key = click.prompt(_QUESTION, type=click.Choice([*_KEYS]), show_choices=False, err=quiet)
        if key == "q":
            raise _ReviewStopped
        if key == "s":
            return "skipped"
        try:
            if key == "e":
                pattern = _edit_pattern(engram, pattern, author)
                continue
            decision = _DECISIONS[key](engram, pattern, author)
        except Error as refusal:
            click.echo(click.style(str(refusal), fg="yellow"), err=True)
            continue
        click.echo(f"{pattern.id} is {decision}.", err=quiet)
        return decision


def _edit_pattern(engram: Engram, pattern: Pattern, author: str | None) -> Pattern:
    new_words = prompt_rule_edit(pattern.rule, pattern.fix)
    if new_words is None:
        click.echo("Nothing was changed.", err=True)
        return pattern
    edited_pattern = engram.edit_pattern(pattern.id, *new_words, author=author, expected_version=pattern.version)
    click.echo(
        f"The rule is now:\n{edited_pattern.rule}" + (f"\nFix: {edited_pattern.fix}" if edited_pattern.fix else ""),
        err=True,
    )
    return edited_pattern


def _approve_pattern(engram: Engram, pattern: Pattern, author: str | None) -> str:
    scope = click.prompt("Scope", default=pattern.scope, err=True)
    engram.approve_pattern(pattern.id, pattern.rule, pattern.fix, scope, author, expected_version=pattern.version)
    return "approved"


def _reject_pattern(engram: Engram, pattern: Pattern, author: str | None) -> str:
    reason = click.prompt("Reason", default="", show_default=False, err=True)
    engram.reject_pattern(pattern.id, reason, author, pattern.version)
    return "rejected"


def _merge_pattern(engram: Engram, pattern: Pattern, author: str | None) -> str:
    into = click.prompt("Merge into (pattern id)", err=True)
    engram.merge_patterns(into, [pattern.id], author)
    return "merged"


_DECISIONS: dict[str, Callable[[Engram, Pattern, str | None], str]] = {
    "a": _approve_pattern,
    "r": _reject_pattern,
    "m": _merge_pattern,
}
