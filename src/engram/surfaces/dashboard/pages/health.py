"""The Health page: storage, failures, model, hooks, doctor findings and the store check."""

from __future__ import annotations

from itertools import groupby
from typing import Any
from weakref import WeakKeyDictionary

from starlette.responses import Response

from engram.api import Engram
from engram.install.hook_times import HookTimes
from engram.platform.text import format_count
from engram.surfaces.dashboard.background_task import BackgroundTask
from engram.surfaces.dashboard.layout import PageAddress, PageRequest

_MIN_SCALE_MS = 100.0  # milliseconds; shortest time axis, so that fast hooks look fast


class _HealthTasks:
    """The slow tasks of one store."""

    def __init__(self) -> None:
        self.check = BackgroundTask(Engram.check)
        self.retry = BackgroundTask(_retry_all)


_tasks: WeakKeyDictionary[Engram, _HealthTasks] = WeakKeyDictionary()


def _get_tasks(request: PageRequest) -> _HealthTasks:
    return _tasks.setdefault(request.engram, _HealthTasks())


def show_health(request: PageRequest) -> Response:
    """Render the page; slow parts are loaded afterwards."""
    hooks = request.engram.hook_times()
    return request.render(
        "health/health.html", agents=_group_by_agent(hooks), scale=max([_MIN_SCALE_MS, *(hook.p95 for hook in hooks)]),
        check=_get_tasks(request).check, **_load_failures(request),
    )  # fmt: skip


def _group_by_agent(hooks: list[HookTimes]) -> dict[str, list[HookTimes]]:
    return {flavor: list(times) for flavor, times in groupby(hooks, lambda hook: hook.flavor)}


def show_storage(request: PageRequest) -> Response:
    """Render storage use and memory quality."""
    return _render_part(
        request, "health/_storage.html", storage=request.engram.get_storage(), rot=request.engram.stats().rot
    )


def _render_part(request: PageRequest, template: str, **facts: Any) -> Response:
    """Render a part, inside a page unless an open page asks for it."""
    return (
        request.render(template, **facts)
        if request.is_part
        else request.render("health/part.html", part=template, **facts)
    )


def show_doctor(request: PageRequest) -> Response:
    """Render the doctor's findings, worst first, without the full store check."""
    order = ("problem", "warning", "ok")
    findings = sorted(request.engram.doctor(quick=True), key=lambda finding: order.index(finding.level))
    return _render_part(request, "health/_doctor.html", findings=findings)


def show_model(request: PageRequest) -> Response:
    """Render the configured model and whether it is reachable."""
    return _render_part(request, "health/_model.html", model=request.engram.model_status())


def try_model(request: PageRequest) -> Response:
    """Send a short test request to the model."""
    status = request.engram.model_status(attempt=True)
    return request.render("health/_model.html", model=status) if request.is_part else request.redirect("/health#model")


def show_failures(request: PageRequest) -> Response:
    """Render failed flushes and the progress of a retry."""
    return _render_part(request, "health/_failures.html", **_load_failures(request))


def _load_failures(request: PageRequest) -> dict[str, Any]:
    """Return the failed flushes and the failures of the last dream."""
    last = request.engram.dream_log(limit=1)
    missed = [failure for dream_pass in last for step in dream_pass.steps for failure in step.failed.items()]
    return {"failures": request.engram.list_failures(), "missed": missed, "retry": _get_tasks(request).retry}


def retry_failures(request: PageRequest) -> Response:
    """Retry one session, or all that failed."""
    session = request.get_field("session")
    if session:
        request.engram.flush(session=session)
    else:
        _get_tasks(request).retry.start(request.engram)
    return show_failures(request) if request.is_part else request.redirect("/health#failures")


def _retry_all(engram: Engram) -> str:
    """Retry all failed flushes and return the result as a sentence."""
    failures = engram.list_failures()
    failed = sum(bool(engram.flush(session=failure.session_id).failed) for failure in failures)
    return f"Retried {format_count(len(failures), 'session')}; {failed or 'none'} failed."


def show_check(request: PageRequest) -> Response:
    """Render the progress or result of the store check."""
    return _render_part(request, "health/_check.html", check=_get_tasks(request).check)


def start_check(request: PageRequest) -> Response:
    """Start the store check."""
    _get_tasks(request).check.start(request.engram)
    return show_check(request) if request.is_part else request.redirect("/health#check")


ADDRESSES = (
    PageAddress("/health", show_health),
    PageAddress("/health/storage", show_storage),
    PageAddress("/health/doctor", show_doctor),
    PageAddress("/health/model", show_model),
    PageAddress("/health/model", try_model, writes=True),
    PageAddress("/health/failures", show_failures),
    PageAddress("/health/failures", retry_failures, writes=True),
    PageAddress("/health/check", show_check),
    PageAddress("/health/check", start_check, writes=True),
)
