"""The page of health: room, failures, the model, hooks, what the doctor finds, whether the store is sound."""

from __future__ import annotations

from itertools import groupby
from typing import Any
from weakref import WeakKeyDictionary

from starlette.responses import Response

from engram.api import Engram
from engram.surfaces.dashboard.frame import Address, Ask
from engram.surfaces.dashboard.task import Task
from engram.text import counted
from engram.wiring.hook_times import HookTimes

_SLOW = 100.0  # milliseconds a bar shows at least, so that fast hooks look fast


class _Tasks:
    """What takes long here, of one store."""

    def __init__(self) -> None:
        self.check = Task(Engram.check)
        self.retry = Task(_retried)


_tasks: WeakKeyDictionary[Engram, _Tasks] = WeakKeyDictionary()


def _of(ask: Ask) -> _Tasks:
    return _tasks.setdefault(ask.engram, _Tasks())


def health(ask: Ask) -> Response:
    """Draw the page; what takes long comes after it."""
    hooks = ask.engram.hook_times()
    return ask.draw(
        "health/health.html", agents=_by_agent(hooks), scale=max([_SLOW, *(each.p95 for each in hooks)]),
        check=_of(ask).check, **_failed(ask),
    )  # fmt: skip


def _by_agent(hooks: list[HookTimes]) -> dict[str, list[HookTimes]]:
    return {flavor: list(times) for flavor, times in groupby(hooks, lambda each: each.flavor)}


def storage(ask: Ask) -> Response:
    """Draw how much room is taken, and how much of memory is of no use."""
    return _part(ask, "health/_storage.html", storage=ask.engram.get_storage(), rot=ask.engram.stats().rot)


def _part(ask: Ask, template: str, **facts: Any) -> Response:
    """Draw a part, with a page around it where no open page asks."""
    return ask.draw(template, **facts) if ask.is_part else ask.draw("health/part.html", part=template, **facts)


def doctor(ask: Ask) -> Response:
    """Draw what the doctor finds, the worst first; whether the store is sound has a button of its own."""
    order = ("problem", "warning", "ok")
    found = sorted(ask.engram.doctor(quick=True), key=lambda each: order.index(each.level))
    return _part(ask, "health/_doctor.html", findings=found)


def model(ask: Ask) -> Response:
    """Draw which model thinks and whether it can be reached."""
    return _part(ask, "health/_model.html", model=ask.engram.model_status())


def try_model(ask: Ask) -> Response:
    """Ask the model for one word."""
    found = ask.engram.model_status(attempt=True)
    return ask.draw("health/_model.html", model=found) if ask.is_part else ask.go("/health#model")


def failures(ask: Ask) -> Response:
    """Draw what could not be flushed, and how trying again goes."""
    return _part(ask, "health/_failures.html", **_failed(ask))


def _failed(ask: Ask) -> dict[str, Any]:
    """Return the flushes that failed, and what the last dream could not do."""
    last = ask.engram.dream_log(limit=1)
    missed = [failure for each in last for done in each.steps for failure in done.failed.items()]
    return {"failures": ask.engram.list_failures(), "missed": missed, "retry": _of(ask).retry}


def retry(ask: Ask) -> Response:
    """Try one session again, or all that failed."""
    session = ask.said("session")
    if session:
        ask.engram.flush(session=session)
    else:
        _of(ask).retry.begin(ask.engram)
    return failures(ask) if ask.is_part else ask.go("/health#failures")


def _retried(engram: Engram) -> str:
    """Flush all that failed, and say what came of it."""
    found = engram.list_failures()
    failed = sum(bool(engram.flush(session=each.session_id).failed) for each in found)
    return f"{counted(len(found), 'session')} tried again, {failed or 'none'} failed."


def checked(ask: Ask) -> Response:
    """Draw how the check of the store goes or went."""
    return _part(ask, "health/_check.html", check=_of(ask).check)


def check(ask: Ask) -> Response:
    """Begin to check the store."""
    _of(ask).check.begin(ask.engram)
    return checked(ask) if ask.is_part else ask.go("/health#check")


ADDRESSES = (
    Address("/health", health),
    Address("/health/storage", storage),
    Address("/health/doctor", doctor),
    Address("/health/model", model),
    Address("/health/model", try_model, writes=True),
    Address("/health/failures", failures),
    Address("/health/failures", retry, writes=True),
    Address("/health/check", checked),
    Address("/health/check", check, writes=True),
)
