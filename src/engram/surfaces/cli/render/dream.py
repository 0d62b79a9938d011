"""Passes, drives and undone passes, as text for people."""

from __future__ import annotations

from engram.dream.priorities import STABILITY, Drive
from engram.dream.results import DreamPreview, Pass, StepResult, UndoReport
from engram.platform import host
from engram.surfaces.cli.render import render
from engram.surfaces.cli.terminal import style

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.dream.schedule import Schedule

_GAUGE_WIDTH = 20  # characters of a gauge
_MAX_ITEMS = 20  # documents of one list
_DOCUMENT_LABELS = {"self self": "self state", "narrative current": "narrative", "profile self": "profile"}


@render.register
def _(drive: Drive) -> str:
    filled = round(drive.level * _GAUGE_WIDTH)
    gauge = "█" * filled + "·" * (_GAUGE_WIDTH - filled)
    calm = drive.name == STABILITY or not drive.is_due
    return f"{drive.name:<11}{style(gauge, fg='green' if calm else 'yellow')} {drive.level:.2f}  {drive.why}"


@render.register
def _(done: StepResult) -> str:
    lines = [f"  {done.step:<10}{done.did}{f', {done.left} left' if done.left else ''} ({done.seconds:.1f} s)"]
    return "\n".join(lines + [style(f"    {name}: {why}", fg="red") for name, why in done.failed.items()])


@render.register
def _(result: Pass) -> str:
    if not result.id:
        return "\n".join(["Nothing to do.", *(render(each) for each in result.drives.values())])
    ended = result.ended_at is not None
    state = " (undone)" if result.undone_at else "" if ended else _format_unfinished(result)
    head = f"Pass {result.id}, {result.began_at.astimezone():%Y-%m-%d %H:%M}, {result.why}{state}"
    why = [each.told() for each in result.before.values() if each.is_due]
    model = f"; {result.calls} model calls, {result.tokens:,} tokens, ${result.cost:.4f}" if result.calls else ""
    lines = [style(head, bold=True), *(f"  because {reason}" for reason in why)]
    lines += [render(each) for each in result.steps]
    if ended:
        lines += [f"  {result.seconds:.1f} s{model}{_format_undo_hint(result)}"]
        lines += [f"  now {each.told()}" for each in result.drives.values() if each.level > 0]
        lines += [f"  stale or duplicate: {render(result.rot)}"] if result.rot else []
    return "\n".join(lines)


def _format_unfinished(result: Pass) -> str:
    is_running = result.host == host.get_host_name() and host.find_process(result.pid) is not None
    return " (running)" if is_running else " (interrupted)"


def _format_undo_hint(result: Pass) -> str:
    return (
        f"; wrote {result.wrote}: `engram dream --undo {result.id}` undoes it"
        if result.wrote and not result.undone_at
        else ""
    )


@render.register
def _(result: DreamPreview) -> str:
    lines = [render(each) for each in result.drives.values()]
    lines += [f"Would run {name}{_format_waiting(name, count)}" for name, count in result.steps.items()] or [
        "Nothing to do."
    ]
    lines += [f"Would leave {name}{_format_waiting(name, count)}" for name, count in result.waiting.items()]
    lines += ["`engram dream --force` runs those too."] if result.waiting else []
    return "\n".join([*lines, *filter(None, (result.diff, result.note))])


def _format_waiting(step: str, count: int) -> str:
    return " to look for new transcripts" if step == "ingest" else f": {count:,} waiting"


@render.register
def _(result: UndoReport) -> str:
    parts = (("restored", result.restored), ("removed", result.removed), ("kept, changed since", result.kept))
    lines = [line for word, documents in parts for line in _format_list(word, documents)]
    return "\n".join([f"Undid pass {result.id}. Ingested sessions and the index are kept.", *lines])


def _format_list(word: str, documents: tuple[str, ...]) -> list[str]:
    more = [f"  {word}: {len(documents) - _MAX_ITEMS:,} more; --json lists all"] if len(documents) > _MAX_ITEMS else []
    return [f"  {word}: {_DOCUMENT_LABELS.get(document, document)}" for document in documents[:_MAX_ITEMS]] + more


def format_schedule(schedule: Schedule, *, dry_run: bool) -> str:
    """Return the schedule that was installed."""
    head = f"{schedule.kind} {'would run' if dry_run else 'runs'} a pass every {schedule.minutes} minutes:"
    lines = [head, *_format_files(schedule)]
    return "\n".join(lines if dry_run else [*lines, "Remove it with `engram dream --uninstall`."])


def format_removed_schedule(schedule: Schedule | None, *, dry_run: bool) -> str:
    """Return the schedule that was removed."""
    if schedule is None:
        return "Automatic dreaming is off. Turn it on with `engram dream --install`."
    return "\n".join(["Would remove:" if dry_run else "Removed:", *_format_files(schedule)])


def _format_files(schedule: Schedule) -> list[str]:
    lines = []
    for path, content in schedule.files.items():
        lines += [style(path, bold=True), *(f"  {line}" for line in content.splitlines())]
    return lines
