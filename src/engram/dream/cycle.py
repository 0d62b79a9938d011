"""One pass of the dream: sense, do what is past its threshold in causal order, read out how caught-up it ended.

What one step makes is news to the next, so a pass senses anew after every step that changed something, and cascades.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from engram import host, text
from engram.capture import worker
from engram.clock import SECOND, moment
from engram.dream import drives, journal, rot, senses
from engram.dream.budget import Budget, Deadline, limits_of
from engram.dream.done import ASKED, Done, Pass
from engram.dream.lease import Lease
from engram.dream.steps import FATAL, STEPS, Step
from engram.errors import InvalidInput, TooLarge
from engram.hub import Hub
from engram.llm.allowance import Allowance, allowed
from engram.memory import self_state
from engram.memory.attribution import attributed
from engram.store import passes
from engram.store.rot import STALE

Told = Callable[[str], None]  # what is done now


def dreamt(
    hub: Hub, *, force: bool = False, limits: Budget | None = None, why: str = ASKED, told: Told | None = None
) -> Pass:  # fmt: skip
    """Make one pass; with nothing past its threshold it costs a few looks and leaves no trace."""
    return _Pass(hub, limits or limits_of(hub, None), force, why, told or (lambda _: None)).run()


class _Pass:
    """One pass at work."""

    def __init__(self, hub: Hub, limits: Budget, force: bool, why: str, told: Told) -> None:
        self.hub, self.limits, self.force, self.why, self.told = hub, limits, force, why, told
        self.began, self.started = hub.now(), hub.clock.steady()
        self.allowance = Allowance(limits.dollars, limits.tokens)
        self.deadline = Deadline(hub, limits.seconds)
        self.done: list[Done] = []
        self.due: set[str] = set()
        self.id = 0

    def run(self) -> Pass:
        if self.force:
            worker.look_again(self.hub)
        self.before = self.now = senses.sense(self.hub)
        self.due |= {name for name, each in self.before.items() if each.is_due}
        if not any(self._may_want(step) for step in STEPS):
            self._keep_drives()
            return self._result()
        with Lease(self.hub) as self.lease, allowed(self.allowance):
            self.id = journal.begin(self.hub, self.why, self.before)
            with attributed(self.id):
                try:
                    self._work()
                finally:
                    ended = self._end()
        return ended

    def _work(self) -> None:
        for step in STEPS:
            try:
                self._sense(step.drive)
                wanted = self._wants(step)
            except FATAL:
                raise
            except Exception as problem:  # what cannot be looked at is named, and the others are done
                self.done.append(_failed(step, problem))
                continue
            if not wanted:
                continue
            if self._is_over():
                left = step.waits(self.hub)
                self.done.append(Done(step=step.name, did="no time was left for it", count=0, left=left))
                continue
            self.told(step.name)
            self.done.append(self._tried(step))

    def _sense(self, name: str) -> None:
        """Sense a drive anew if a step may have changed it; what was due once stays so in this pass."""
        changed = any(done.count for done in self.done)
        if changed and not self.force and name not in self.due and senses.drive(self.hub, name).is_due:
            self.due.add(name)

    def _may_want(self, step: Step) -> bool:
        """Tell whether a step is worth beginning a pass; one that cannot be looked at is, since it must be named."""
        try:
            return self._wants(step)
        except FATAL:
            raise
        except Exception:
            return True

    def _wants(self, step: Step) -> bool:
        """Tell whether a step is due and has something to do."""
        if self.force:
            return bool((step.all or step.waits)(self.hub))
        return bool((step.always or step.drive in self.due) and step.waits(self.hub))

    def _tried(self, step: Step) -> Done:
        """Do a step; whatever is wrong with it, the others are done."""
        began = self.hub.clock.steady()
        try:
            done = step.run(self.hub, self._is_over)
        except FATAL as problem:
            self.done.append(_failed(step, problem))
            raise
        except Exception as problem:
            done = _failed(step, problem)
        return Done(**{**vars(done), "seconds": round((self.hub.clock.steady() - began) / SECOND, 3)})

    def _is_over(self) -> bool:
        """Tell whether time is out; asked between all pieces of work, so that the lease is held through them."""
        self.lease.renew()
        return self.deadline.passed

    def _end(self) -> Pass:
        """Read out how caught-up memory is, and write it down."""
        self.now = senses.sense(self.hub)
        self._keep_drives()
        if not self.force and not self._came_to_something:
            journal.drop(self.hub, self.id)  # a look that found nothing is not worth a line
            self.id = 0
            return self._result()
        rot.keep(self.hub, STALE, senses.stale(self.hub))
        found = self._result()
        journal.end(self.hub, self.id, found)
        return found

    @property
    def _came_to_something(self) -> bool:
        return any(each.count or each.failed or each.left for each in self.done)

    def _keep_drives(self) -> None:
        """Let the self state hold the drives; where nothing was done, only if one began or ceased to press."""
        kept, known = drives.kept(self.now), senses.held(self.hub)
        if kept == known or (not self._came_to_something and _since(kept) == _since(known)):
            return
        try:
            self_state.change(self.hub, {"drives": kept}, "rules/1", [])
        except (InvalidInput, TooLarge) as problem:  # somebody filled it to its limit
            self.done.append(Done(step="readout", did="failed", count=0, failed={"self state": str(problem)}))

    def _result(self) -> Pass:
        return Pass(
            id=self.id, began_at=moment(self.began), ended_at=moment(self.hub.now()), why=self.why, host=host.name(),
            pid=os.getpid(), before=self.before, drives=self.now, steps=tuple(self.done),
            seconds=round((self.hub.clock.steady() - self.started) / SECOND, 3), calls=self.allowance.calls,
            tokens=self.allowance.used, cost=round(self.allowance.spent, 6), budget=self.limits.told(),
            changes=passes.counts(self.hub.engine, self.id) if self.id else {},
            rot=rot.meter(self.hub) if self.id else None,
        )  # fmt: skip


def _failed(step: Step, problem: Exception) -> Done:
    why = text.reason(problem)
    return Done(step=step.name, did="failed", count=0, failed={step.name: why})


def _since(kept: dict[str, dict[str, object]]) -> dict[str, object]:
    """Return since when each drive presses, by what is kept of them."""
    return {name: each.get("since") for name, each in kept.items()}
