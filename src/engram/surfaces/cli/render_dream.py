"""Passes, drives and what undoing came to, as text for people."""

from __future__ import annotations

import click

from engram.dream.done import Done, Foreseen, Pass, Undone
from engram.dream.drives import STABILITY, Drive
from engram.surfaces.cli.render import render

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.dream.schedule import Schedule

_WIDTH = 20  # of a gauge
_SHOWN = 20  # things of one list
_ALONE = {"self self": "self state", "narrative current": "narrative", "profile self": "profile"}


@render.register
def _(drive: Drive) -> str:
    filled = round(drive.level * _WIDTH)
    gauge = "█" * filled + "·" * (_WIDTH - filled)
    calm = drive.name == STABILITY or not drive.is_due
    return f"{drive.name:<11}{click.style(gauge, fg='green' if calm else 'yellow')} {drive.level:.2f}  {drive.why}"


@render.register
def _(done: Done) -> str:
    lines = [f"  {done.step:<10}{done.did}{f', {done.left} left' if done.left else ''} ({done.seconds:.1f} s)"]
    return "\n".join(lines + [click.style(f"    {name}: {why}", fg="red") for name, why in done.failed.items()])


@render.register
def _(found: Pass) -> str:
    if not found.id:
        return "\n".join(["Nothing was due.", *(render(each) for each in found.drives.values())])
    ended = found.ended_at is not None
    state = " (undone)" if found.undone_at else "" if ended else " (it never ended)"
    head = f"Pass {found.id}, {found.began_at.astimezone():%Y-%m-%d %H:%M}, {found.why}{state}"
    why = [each.told() for each in found.before.values() if each.is_due]
    model = f"; {found.calls} model calls, {found.tokens:,} tokens, ${found.cost:.4f}" if found.calls else ""
    lines = [click.style(head, bold=True), *(f"  because {each}" for each in why)]
    lines += [render(each) for each in found.steps]
    if ended:
        lines += [f"  {found.seconds:.1f} s{model}{_changed(found)}"]
        lines += [f"  now {each.told()}" for each in found.drives.values() if each.level > 0]
        lines += [f"  rot: {render(found.rot)}"] if found.rot else []
    return "\n".join(lines)


def _changed(found: Pass) -> str:
    return (
        f"; wrote {found.wrote}: `engram dream --undo {found.id}` takes it back"
        if found.wrote and not found.undone_at
        else ""
    )


@render.register
def _(found: Foreseen) -> str:
    lines = [render(each) for each in found.drives.values()]
    lines += [f"Would run {name}{_waiting(name, count)}" for name, count in found.steps.items()] or ["Nothing is due."]
    lines += [f"Would leave {name}{_waiting(name, count)}" for name, count in found.waiting.items()]
    lines += ["`engram dream --force` runs what would be left."] if found.waiting else []
    return "\n".join([*lines, *filter(None, (found.diff, found.note))])


def _waiting(step: str, count: int) -> str:
    return ", to see what is new" if step == "ingest" else f": {count:,} waiting"


@render.register
def _(found: Undone) -> str:
    parts = (("restored", found.restored), ("removed", found.removed), ("left, changed since", found.kept))
    told = [line for word, some in parts for line in _listed(word, some)]
    return "\n".join([f"Pass {found.id} is undone; what it took in, and the index, stay.", *told])


def _listed(word: str, some: tuple[str, ...]) -> list[str]:
    more = [f"  {word}: {len(some) - _SHOWN:,} more; --json names all"] if len(some) > _SHOWN else []
    return [f"  {word}: {_ALONE.get(each, each)}" for each in some[:_SHOWN]] + more


def scheduled(found: Schedule, *, dry_run: bool) -> str:
    """Return what lets a home dream by itself, from now on."""
    head = f"{found.kind} {'would make' if dry_run else 'makes'} a pass every {found.minutes} minutes:"
    lines = [head, *_files(found)]
    return "\n".join(lines if dry_run else [*lines, "`engram dream --uninstall` takes it away."])


def unscheduled(found: Schedule | None, *, dry_run: bool) -> str:
    """Return what no longer lets it."""
    if found is None:
        return "Nothing lets this home dream by itself; `engram dream --install` does."
    return "\n".join(["Would be taken away:" if dry_run else "Taken away:", *_files(found)])


def _files(found: Schedule) -> list[str]:
    lines = []
    for path, content in found.files.items():
        lines += [click.style(path, bold=True), *(f"  {line}" for line in content.splitlines())]
    return lines
