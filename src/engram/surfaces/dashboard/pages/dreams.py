"""The dream part of the Timeline page: drives, past passes, and a button to start one."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial
from weakref import WeakKeyDictionary

from starlette.responses import Response

from engram.api import Engram
from engram.dream.priorities import STABILITY, Drive
from engram.dream.results import Pass, UndoReport
from engram.platform.value import value
from engram.surfaces.dashboard.background_task import BackgroundTask
from engram.surfaces.dashboard.drawing.plot import StepLine, build_step_line
from engram.surfaces.dashboard.layout import PageAddress, PageRequest, build_notice, parse_number
from engram.surfaces.errors import PassUnderWay

_MAX_PASSES = 20  # passes shown


@value
class DriveGauge:
    """A drive with its level over the last passes."""

    drive: Drive
    line: StepLine
    triggers: bool  # crossing its threshold makes work due


def show_dream(request: PageRequest) -> Response:
    """Render drives and passes."""
    return _render_dream(request)


def show_progress(request: PageRequest) -> Response:
    """Render the state of the requested pass; the open page polls this."""
    task = find_task(request.engram)
    ended = task is not None and not task.is_under_way
    return request.render("timeline/_dreaming.html", task=task, headers={"HX-Trigger": "dreamt"} if ended else None)


def start_dream(request: PageRequest) -> Response:
    """Start a pass in the background; refuse a second one while it runs."""
    with _tasks_lock:
        current_task = _tasks.get(request.engram)
        if current_task is not None and current_task.is_under_way:
            raise PassUnderWay
        task = _tasks[request.engram] = BackgroundTask(partial(Engram.dream, force=request.get_field("force") == "yes"))
        task.start(request.engram)
    if not request.is_part:
        return request.redirect("/timeline#dream")
    return request.render(
        "timeline/_dreaming.html", task=task, headers=build_notice("Dream started in the background.")
    )


def undo_pass(request: PageRequest) -> Response:
    """Undo a pass and render what was restored."""
    number = request.get_path_part("number")
    undone = request.engram.undo_dream(parse_number("pass", number, f"{number!r} is not the number of a pass."))
    return _render_dream(request, undone) if request.is_part else request.redirect("/timeline#dream")


def find_task(engram: Engram) -> BackgroundTask | None:
    """Return the pass that was last requested from this server."""
    with _tasks_lock:
        return _tasks.get(engram)


def _render_dream(request: PageRequest, undone: UndoReport | None = None) -> Response:
    passes = request.engram.dream_log(limit=_MAX_PASSES)
    notice = build_notice(f"Pass {undone.id} was undone.") if undone else None
    return request.render_page(
        "timeline/dream", gauges=_build_gauges(request.engram.get_drives(), passes),
        passes=passes, undone=undone, task=find_task(request.engram), headers=notice,
    )  # fmt: skip


def _build_gauges(drives: Sequence[Drive], passes: Sequence[Pass]) -> list[DriveGauge]:
    return [
        DriveGauge(drive=drive, line=build_step_line(_level_history(drive, passes)), triggers=drive.name != STABILITY)
        for drive in drives
    ]


def _level_history(drive: Drive, passes: Sequence[Pass]) -> list[float]:
    """Return the levels of a drive before and after each pass and now, oldest first."""
    sensed = [levels for dream_pass in reversed(passes) for levels in (dream_pass.before, dream_pass.drives)]
    return [*(levels[drive.name].level for levels in sensed if drive.name in levels), drive.level]


_tasks_lock = threading.Lock()
_tasks: WeakKeyDictionary[Engram, BackgroundTask] = WeakKeyDictionary()
ADDRESSES = (
    PageAddress("/timeline/dream", show_dream),
    PageAddress("/timeline/dreaming", show_progress),
    PageAddress("/timeline/dream", start_dream, writes=True),
    PageAddress("/timeline/passes/{number}/undo", undo_pass, writes=True),
)
