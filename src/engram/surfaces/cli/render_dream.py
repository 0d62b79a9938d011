"""Passes, drives and what undoing came to, as text for people."""

from __future__ import annotations

import click

from engram.dream.done import Done
from engram.dream.drives import STABILITY, Drive
from engram.dream.foresee import Foreseen
from engram.dream.journal import Pass
from engram.dream.undo import Undone
from engram.surfaces.cli.render import render

_WIDTH = 20  # of a gauge
_SHOWN = 40  # things of one list


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
    why = [each.told() for each in found.before.values() if each.level >= each.threshold and each.name != STABILITY]
    model = f"; {found.calls} model calls, {found.tokens:,} tokens, ${found.cost:.4f}" if found.calls else ""
    lines = [click.style(head, bold=True), *(f"  because {each}" for each in why)]
    lines += [render(each) for each in found.steps]
    if ended:
        lines += [f"  {found.seconds:.1f} s{model}{_changed(found)}"]
        lines += [f"  now {each.told()}" for each in found.drives.values() if each.level > 0]
        lines += [f"  rot: {render(found.rot)}"] if found.rot else []
    return "\n".join(lines)


def _changed(found: Pass) -> str:
    told = ", ".join(f"{count} {kind}" for kind, count in sorted(found.changes.items()))
    return f"; wrote {told}: `engram dream --undo {found.id}` takes it back" if told and not found.undone_at else ""


@render.register
def _(found: Foreseen) -> str:
    lines = [render(each) for each in found.drives.values()]
    lines += [f"Would run {name}: {count} waiting" for name, count in found.steps.items()]
    lines += [f"Would leave {name}: {count} waiting" for name, count in found.waiting.items()]
    return "\n".join([*lines, *filter(None, (found.diff, found.note))])


@render.register
def _(found: Undone) -> str:
    parts = (("restored", found.restored), ("removed", found.removed), ("left, changed since", found.kept))
    told = [f"  {word}: {each}" for word, some in parts for each in some[:_SHOWN]]
    return "\n".join([f"Pass {found.id} is undone; what it took in, and the index, stay.", *told])
