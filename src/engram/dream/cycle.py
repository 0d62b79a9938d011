"""One pass of the dream: sense the drives, run the steps that are due in causal order, and record the result.

The output of one step is input to the next, so a pass senses again after every step that changed something.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from engram.capture import worker
from engram.clock import SECOND, to_datetime
from engram.dream import journal, priorities, probes, rot
from engram.dream.budget import Deadline, PassLimits, parse_limits
from engram.dream.lease import Lease
from engram.dream.results import ASKED, Pass, StepResult
from engram.dream.steps import FATAL, STEPS, DreamStep
from engram.errors import InvalidInput, TooLarge
from engram.hub import Hub
from engram.models.call_budget import Allowance, use_allowance
from engram.platform import host, text
from engram.store import dream_passes
from engram.store.rot import STALE
from engram.summaries import self_state
from engram.summaries.attribution import attribute_to_pass

StepListener = Callable[[str], None]  # name of the current step


def run_pass(
    hub: Hub,
    *,
    force: bool = False,
    limits: PassLimits | None = None,
    why: str = ASKED,
    on_step: StepListener | None = None,
) -> Pass:
    """Run one pass; if nothing is due, it costs a few queries and leaves no trace."""
    return _DreamPass(hub, limits or parse_limits(hub, None), force, why, on_step or (lambda _: None)).run()


class _DreamPass:
    """One running pass."""

    def __init__(self, hub: Hub, limits: PassLimits, force: bool, why: str, on_step: StepListener) -> None:
        self.hub, self.limits, self.force, self.why, self.on_step = hub, limits, force, why, on_step
        self.began, self.started = hub.now(), hub.clock.steady()
        self.allowance = Allowance(limits.dollars, limits.tokens)
        self.deadline = Deadline(hub, limits.seconds)
        self.done: list[StepResult] = []
        self.due: set[str] = set()
        self.id = 0

    def run(self) -> Pass:
        if self.force:
            worker.request_full_look(self.hub)
        self.before = self.now = probes.sense_drives(self.hub)
        self.due |= {name for name, drive in self.before.items() if drive.is_due}
        if not any(self._may_want(step) for step in STEPS):
            self._save_drives()
            return self._build_result()
        with Lease(self.hub) as self.lease, use_allowance(self.allowance):
            self.id = journal.begin_pass(self.hub, self.why, self.before)
            with attribute_to_pass(self.id):
                try:
                    self._run_steps()
                finally:
                    result = self._finish()
        return result

    def _run_steps(self) -> None:
        for step in STEPS:
            try:
                self._sense_drive(step.drive)
                is_wanted = self._is_wanted(step)
            except FATAL:
                raise
            except Exception as problem:  # a step that cannot be checked is reported, and the others run
                self.done.append(_build_failure(step, problem))
                continue
            if not is_wanted:
                continue
            if self._is_over():
                left = step.count_waiting(self.hub)
                self.done.append(StepResult(step=step.name, did="out of time", count=0, left=left))
                continue
            self.on_step(step.name)
            self.done.append(self._run_step(step))

    def _sense_drive(self, name: str) -> None:
        """Sense a drive again if a step may have changed it; what was due once stays due in this pass."""
        changed = any(done.count for done in self.done)
        if changed and not self.force and name not in self.due and probes.sense_drive(self.hub, name).is_due:
            self.due.add(name)

    def _may_want(self, step: DreamStep) -> bool:
        """Check whether a step justifies starting a pass; one that cannot be checked does, since it must be
        reported.
        """
        try:
            return self._is_wanted(step)
        except FATAL:
            raise
        except Exception:
            return True

    def _is_wanted(self, step: DreamStep) -> bool:
        """Check whether a step is due and has work."""
        if self.force:
            return bool((step.count_forced or step.count_waiting)(self.hub))
        return bool((step.always or step.drive in self.due) and step.count_waiting(self.hub))

    def _run_step(self, step: DreamStep) -> StepResult:
        """Run a step; a failure does not stop the others."""
        began = self.hub.clock.steady()
        try:
            result = step.run(self.hub, self._is_over)
        except FATAL as problem:
            self.done.append(_build_failure(step, problem))
            raise
        except Exception as problem:
            result = _build_failure(step, problem)
        return StepResult(**{**vars(result), "seconds": round((self.hub.clock.steady() - began) / SECOND, 3)})

    def _is_over(self) -> bool:
        """Check whether the time is up; called between all pieces of work, so that it also renews the lease."""
        self.lease.renew()
        return self.deadline.is_over

    def _finish(self) -> Pass:
        """Measure how up to date the memory is, and record the pass."""
        self.now = probes.sense_drives(self.hub)
        self._save_drives()
        if not self.force and not self._has_results:
            journal.delete_pass(self.hub, self.id)  # a pass that found nothing is not recorded
            self.id = 0
            return self._build_result()
        rot.save_findings(self.hub, STALE, probes.list_stale_gists(self.hub))
        result = self._build_result()
        journal.end_pass(self.hub, self.id, result)
        return result

    @property
    def _has_results(self) -> bool:
        return any(result.count or result.failed or result.left for result in self.done)

    def _save_drives(self) -> None:
        """Save the drives in the self state; if nothing was done, only if one started or stopped being due."""
        new_drives, saved_drives = priorities.dump_drives(self.now), probes.get_saved_drives(self.hub)
        if new_drives == saved_drives or (
            not self._has_results and _get_since_times(new_drives) == _get_since_times(saved_drives)
        ):
            return
        try:
            self_state.update_state(self.hub, {"drives": new_drives}, "rules/1", [])
        except (InvalidInput, TooLarge) as problem:  # the self state is full
            self.done.append(StepResult(step="readout", did="failed", count=0, failed={"self state": str(problem)}))

    def _build_result(self) -> Pass:
        return Pass(
            id=self.id,
            began_at=to_datetime(self.began),
            ended_at=to_datetime(self.hub.now()),
            why=self.why,
            host=host.get_host_name(),
            pid=os.getpid(),
            before=self.before,
            drives=self.now,
            steps=tuple(self.done),
            seconds=round((self.hub.clock.steady() - self.started) / SECOND, 3),
            calls=self.allowance.calls,
            tokens=self.allowance.used,
            cost=round(self.allowance.spent, 6),
            budget=self.limits.describe(),
            changes=dream_passes.count_changes(self.hub.engine, self.id) if self.id else {},
            rot=rot.meter(self.hub) if self.id else None,
        )


def _build_failure(step: DreamStep, problem: Exception) -> StepResult:
    why = text.format_error(problem)
    return StepResult(step=step.name, did="failed", count=0, failed={step.name: why})


def _get_since_times(saved: dict[str, dict[str, object]]) -> dict[str, object]:
    """Return since when each drive has been waiting."""
    return {name: drive.get("since") for name, drive in saved.items()}
