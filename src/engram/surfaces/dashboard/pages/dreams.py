"""The dream on the page Timeline: what presses, what passes did, and a pass at a person's wish."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial
from weakref import WeakKeyDictionary

from starlette.responses import Response

from engram.api import Engram
from engram.dream.done import Pass, Undone
from engram.dream.drives import STABILITY, Drive
from engram.errors import Error
from engram.surfaces.dashboard.drawing.plot import Line, stepped
from engram.surfaces.dashboard.frame import Address, Ask, told, whole
from engram.surfaces.dashboard.task import Task
from engram.value import value

_PASSES = 20  # that are shown


class Dreaming(Error):
    """A pass is under way already; what it does is shown when it has ended."""

    code, status = "dream_running", 409


@value
class Gauge:
    """A drive now, and how it rose and fell over the last passes."""

    drive: Drive
    line: Line
    triggers: bool  # it makes something due when it is past its threshold


def dream_part(ask: Ask) -> Response:
    """Draw drives and passes."""
    return _drawn(ask)


def under_way(ask: Ask) -> Response:
    """Tell whether the pass that was asked for has ended; an open page asks again and again."""
    task = asked(ask.engram)
    ended = task is not None and not task.is_under_way
    return ask.draw("timeline/_dreaming.html", task=task, headers={"HX-Trigger": "dreamt"} if ended else None)


def dream_now(ask: Ask) -> Response:
    """Begin a pass and say so at once; a second one is refused while it lasts."""
    with _alone:
        now = _tasks.get(ask.engram)
        if now is not None and now.is_under_way:
            raise Dreaming
        task = _tasks[ask.engram] = Task(partial(Engram.dream, force=ask.said("force") == "yes"))
        task.begin(ask.engram)
    if not ask.is_part:
        return ask.go("/timeline#dream")
    return ask.draw("timeline/_dreaming.html", task=task, headers=told("The dream began; it goes on by itself."))


def undo(ask: Ask) -> Response:
    """Undo a pass, and say what that came to."""
    number = ask.path("number")
    undone = ask.engram.undo_dream(whole("pass", number, f"{number!r} is no number of a pass."))
    return _drawn(ask, undone) if ask.is_part else ask.go("/timeline#dream")


def asked(engram: Engram) -> Task | None:
    """Return the pass that somebody asked for last, while this server runs."""
    with _alone:
        return _tasks.get(engram)


def _drawn(ask: Ask, undone: Undone | None = None) -> Response:
    passes = ask.engram.dream_log(limit=_PASSES)
    said = told(f"Pass {undone.id} is undone.") if undone else None
    return ask.show(
        "timeline/dream", gauges=_gauges(ask.engram.get_drives(), passes),
        passes=passes, undone=undone, task=asked(ask.engram), headers=said,
    )  # fmt: skip


def _gauges(drives: Sequence[Drive], passes: Sequence[Pass]) -> list[Gauge]:
    return [
        Gauge(drive=drive, line=stepped(_history(drive, passes)), triggers=drive.name != STABILITY) for drive in drives
    ]


def _history(drive: Drive, passes: Sequence[Pass]) -> list[float]:
    """Return the levels of a drive before and after each pass, and now, in the order of time."""
    sensed = [some for each in reversed(passes) for some in (each.before, each.drives)]
    return [*(some[drive.name].level for some in sensed if drive.name in some), drive.level]


_alone = threading.Lock()
_tasks: WeakKeyDictionary[Engram, Task] = WeakKeyDictionary()
ADDRESSES = (
    Address("/timeline/dream", dream_part), Address("/timeline/dreaming", under_way),
    Address("/timeline/dream", dream_now, writes=True), Address("/timeline/passes/{number}/undo", undo, writes=True),
)  # fmt: skip
