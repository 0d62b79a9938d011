"""A review in the terminal: one candidate after the other, with its evidence; what is decided is decided at once."""

from __future__ import annotations

import sys

import click

from engram.api import Engram
from engram.errors import Error
from engram.rules.catalog import Pattern
from engram.surfaces.cli.render import render

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_KEYS = {"a": "approve", "e": "edit", "r": "reject", "s": "skip", "m": "merge", "q": "quit"}
_FIX = "Fix: "
_QUESTION = " ".join(f"[{word[0]}]{word[1:]}" for word in _KEYS.values())


class _Quit(Exception):
    """The person has had enough for now."""


def review(engram: Engram, author: str | None, limit: int, *, quiet: bool) -> dict[str, int]:
    """Go through the candidates and return how many were decided in which way."""
    waiting = engram.list_patterns("candidate", limit=limit)
    done = {"approved": 0, "rejected": 0, "merged": 0, "skipped": 0, "left": len(waiting)}
    for number, each in enumerate(waiting, 1):
        try:
            word = _decided(engram, each, author, f"{number} of {len(waiting)}", quiet)
        except (_Quit, click.Abort):
            break
        done[word] += 1
        done["left"] -= word != "skipped"
    return done


def edited(rule: str, fix: str) -> tuple[str, str] | None:
    """Let a person change a rule and its fix, in their editor or by typing them anew; None if they left them."""
    if not sys.stdin.isatty():
        new = click.prompt("Rule", default=rule, show_default=False, err=True).strip()
        remedy = click.prompt("Fix (- for none)", default=fix or "-", show_default=False, err=True).strip()
        found = (new, "" if remedy == "-" else remedy)
    else:
        lines = (click.edit("\n".join([rule, *(f"{_FIX}{line}" for line in fix.splitlines())])) or "").splitlines()
        kept = [line.removeprefix(_FIX) for line in lines if line.startswith(_FIX)]
        found = ("\n".join(line for line in lines if not line.startswith(_FIX)).strip(), "\n".join(kept).strip())
    return None if not found[0] or found == (rule, fix) else found


def _decided(engram: Engram, pattern: Pattern, author: str | None, place: str, quiet: bool) -> str:
    """Ask until something is decided about one candidate."""
    found = engram.get_pattern(pattern.id)
    pattern = found.pattern  # as it is shown, so that nothing is approved that came in meanwhile
    if not quiet:
        click.echo(f"\n{click.style(place, dim=True)}\n{render(found)}\n")
    while True:
        key = click.prompt(_QUESTION, type=click.Choice([*_KEYS]), show_choices=False, err=quiet)
        if key == "q":
            raise _Quit
        if key == "s":
            return "skipped"
        try:
            if key == "e":
                pattern = _edit(engram, pattern, author)
                continue
            word = _ACTS[key](engram, pattern, author)
        except Error as refusal:
            click.echo(click.style(str(refusal), fg="yellow"), err=True)
            continue
        click.echo(f"{pattern.id} is {word}.", err=quiet)
        return word


def _edit(engram: Engram, pattern: Pattern, author: str | None) -> Pattern:
    new = edited(pattern.rule, pattern.fix)
    if new is None:
        click.echo("Nothing was changed.", err=True)
        return pattern
    found = engram.edit_pattern(pattern.id, *new, author=author, expected_version=pattern.version)
    click.echo(f"It reads now:\n{found.rule}" + (f"\nFix: {found.fix}" if found.fix else ""), err=True)
    return found


def _approve(engram: Engram, pattern: Pattern, author: str | None) -> str:
    scope = click.prompt("For whom", default=pattern.scope, err=True)
    engram.approve_pattern(pattern.id, pattern.rule, pattern.fix, scope, author, expected_version=pattern.version)
    return "approved"


def _reject(engram: Engram, pattern: Pattern, author: str | None) -> str:
    reason = click.prompt("Why", default="", show_default=False, err=True)
    engram.reject_pattern(pattern.id, reason, author, pattern.version)
    return "rejected"


def _merge(engram: Engram, pattern: Pattern, author: str | None) -> str:
    into = click.prompt("Into which one (its id)", err=True)
    engram.merge_patterns(into, [pattern.id], author)
    return "merged"


_ACTS: dict[str, Callable[[Engram, Pattern, str | None], str]] = {"a": _approve, "r": _reject, "m": _merge}
