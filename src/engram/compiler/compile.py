"""Compile daily logs into the wiki: what is new in them, and nothing else.

Rules make pages of every log; a model, where one is chosen, adds articles of its own. A log whose model failed keeps
what the rules made, is not marked as compiled, and is tried again later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from engram.clock import moment, zone
from engram.errors import CompileRunning, Error, InvalidInput, ModelInvalid, ModelOff, NotFound
from engram.hub import Hub
from engram.llm import allowance
from engram.llm.registry import NONE
from engram.operation import Help, operation
from engram.text import name_or_none, one_line, reason
from engram.value import value

if TYPE_CHECKING:
    from collections.abc import Callable

    from engram.compiler.work import Work
    from engram.vault.vault import Vault
    from engram.vault.writes import Applied, Write

    Progress = Callable[[str, int, int], None]  # what is done, how much of it, of how much

_LOOKED = 128  # pages that are looked at for edits by people, in each run


@value
class Compiled:
    """What compiling came to."""

    logs: tuple[str, ...]  # days that are compiled now
    entries: int  # that were new in them
    created: tuple[str, ...]
    updated: tuple[str, ...]
    removed: tuple[str, ...]
    kept: dict[str, list[str]]  # pages, and the sections left to the people who edited them
    waiting: dict[str, str]  # logs that changed and are not due yet, and why
    failed: dict[str, str]  # logs that are tried again, and why
    cost: float = 0.0  # US dollars
    tokens: int = 0  # of the model
    dropped: int = 0  # articles of the model that could not be taken
    diff: str = ""  # what would change, where nothing was written


@operation(writes=True, agent=False)
def compile(  # noqa: A001  the word users know
    hub: Hub,
    everything: Annotated[bool, Help("compile every log anew, also those that did not change")] = False,
    file: Annotated[str | None, Help("only this log, by its day or its file; at once")] = None,
    dry_run: Annotated[bool, Help("write nothing and ask no model: show what the rules would change")] = False,
) -> Compiled:
    """Compile what is new in the daily logs into the wiki, at once."""
    return compile_logs(hub, everything=everything, file=file, dry_run=dry_run, asked=True)


def compile_logs(
    hub: Hub, *, everything: bool = False, file: str | None = None, dry_run: bool = False, asked: bool = False,
    told: Progress | None = None,
) -> Compiled:  # fmt: skip
    """Compile the logs that are due, or all that changed where a person asks; one compiler at a time for each vault."""
    from engram.capture.turn import Turn
    from engram.vault import vault, writes

    home = vault.of(hub)
    day = _day(home, file)
    if dry_run:
        return _Run(hub, home, everything=everything, day=day, asked=asked).shown()
    with Turn(home.own, "compile.lock", CompileRunning):
        writes.finish(hub, home)
        return _Run(hub, home, everything=everything, day=day, asked=asked).carried_out(told or (lambda *_: None))


def due_days(hub: Hub) -> list[str]:
    """Return the days whose logs are due to be compiled, the oldest first."""
    from engram.vault import vault

    return _Run(hub, vault.of(hub), everything=False, day=None).due()


def _day(home: Vault, file: str | None) -> str | None:
    """Return the day of a log somebody names."""
    import os

    from engram.vault import daily_log

    named = name_or_none("file", file)
    if named is None:
        return None
    day = os.path.basename(named).removesuffix(".md")
    if day not in daily_log.days(home):
        raise NotFound(kind="daily log", id=named, hint="Name a day like 2026-11-16 that has one, see `daily/`.")
    return day


class _Run:
    """One pass over the logs that are due."""

    def __init__(self, hub: Hub, home: Vault, *, everything: bool, day: str | None, asked: bool = False) -> None:
        from engram.compiler.catalogue import Catalogue
        from engram.vault import state

        if everything and day:
            raise InvalidInput(field="file", reason="name one log, or compile all of them.")
        self.hub, self.home, self.everything, self.day, self.asked = hub, home, everything, day, asked
        self.epoch = int(state.load(home)["epoch"]) + everything
        self.catalogue = Catalogue(home, self.epoch)
        self.now = hub.now()
        self.at = moment(self.now).astimezone(zone(hub.settings.timezone)).isoformat(timespec="seconds")
        self.applied: list[Applied] = []
        self.done: list[str] = []
        self.waiting: dict[str, str] = {}
        self.failed: dict[str, str] = {}
        self.cost, self.tokens, self.dropped, self.entries = 0.0, 0, 0, 0
        self.broken: Error | None = None  # why the model cannot be asked any more in this run
        self.modelless = hub.settings.model in ("", NONE) or allowance.silent()

    def carried_out(self, told: Progress) -> Compiled:
        """Compile what is due and write it; whatever is wrong with one log, the others are compiled."""
        if self.everything:
            self._begin_anew()
        due = self.due()
        for number, day in enumerate(due):
            told("compiled", number, len(due))
            try:
                self._compile(day)
            except Exception as problem:
                self._fail(day, problem)
        told("compiled", len(due), len(due))
        self._look_around()
        return self._result()

    def shown(self) -> Compiled:
        """Return what would be written."""
        from engram.vault import state

        found: dict[str, Write] = {}
        total = 0 if self.everything else int(state.load(self.home)["totals"]["entries"])
        for day in self.due():
            work = self._work(day, total)
            total += len(work.new)
            self.entries += len(work.new)
            found |= {each.target: each for each in work.writes}
            self.done.append(day)
        diff = _diff(self.home, list(found.values()))
        return self._result(diff or ("No page would change." if self.done else ""))

    def due(self) -> list[str]:
        """Return the days to compile, the oldest first."""
        from engram.vault import daily_log, gate, state

        if self.day:
            return [self.day]
        if self.everything:
            return daily_log.days(self.home)
        logs, due = state.load(self.home)["logs"], []
        today = daily_log.day_of(self.now, self.hub.settings.timezone)
        stamps = gate.stamps(self.home)
        for day in sorted(filter(daily_log.is_day, stamps)):
            log = logs.get(day, {})
            if self._unchanged(day, log, stamps[day]):
                continue
            interval = self.hub.settings.compile_interval_minutes
            why = "" if self.asked else gate.waits(log, day, today, self.now, interval)
            self.waiting |= {day: why} if why else {}
            due += [] if why else [day]
        return due

    def _unchanged(self, day: str, log: dict[str, Any], stamp: list[int]) -> bool:
        from engram.vault import gate

        if "hash" not in log or log.get("epoch", 0) != self.epoch:
            return False
        if log.get("stamp") == stamp:
            return True
        return bool(log["hash"] == gate.digest(self.home.read(f"daily/{day}") or ""))

    def _work(self, day: str, total: int) -> Work:
        from engram.compiler.work import Work

        return Work(self.home, self.catalogue, day, total, anew=self.everything)

    def _compile(self, day: str) -> None:
        from engram.vault import state, writes

        held = state.load(self.home)
        totals = held["totals"]
        work = self._work(day, int(totals["entries"]))
        problem = self._ask_model(work)
        log = work.log(held["logs"].get(day, {}), self.at, self.now, problem)
        spent = {"compiled": totals["compiled"] + 1, "entries": totals["entries"] + len(work.new),
                 "cost": totals["cost"] + work.cost}  # fmt: skip
        files = work.files(log)
        applied = writes.commit(
            self.hub, self.home, work.writes, what="compile", subject=f"daily/{day}", at=self.at, files=files,
            patch={"logs": {day: log}, "totals": spent}, again=self._written(),
        )  # fmt: skip
        self.applied.append(applied)
        self.cost, self.tokens = self.cost + work.cost, self.tokens + work.tokens
        self.dropped, self.entries = self.dropped + work.dropped, self.entries + len(work.new)
        if problem:
            self.failed[day] = problem
        else:
            self.done.append(day)

    def _written(self) -> set[str]:
        """Return the pages this run wrote so far."""
        return {target for each in self.applied for target in (*each.created, *each.updated)}

    def _ask_model(self, work: Work) -> str:
        """Let the model add to what the rules made of a log; return why it could not."""
        if self.modelless or not work.unread:
            return ""
        try:
            if self.broken is not None:
                raise self.broken
            work.think(self.hub, self.at[:10])
        except ModelOff:
            self.modelless = True  # from inside a hook or another call: nobody asked for a model here
        except Error as problem:
            self.broken = None if isinstance(problem, ModelInvalid) else problem
            return one_line(str(problem), 300)
        return ""

    def _fail(self, day: str, problem: Exception) -> None:
        """Note that a log could not be compiled; what was read for it may be half changed and is read again."""
        from engram.compiler.catalogue import Catalogue
        from engram.vault import gate, state

        self.failed[day] = reason(problem)
        self.catalogue = Catalogue(self.home, self.epoch)
        with self.home.alone():
            held = state.load(self.home)
            held["logs"][day] = gate.failed(held["logs"].get(day, {}), self.failed[day], self.now)
            state.write(self.home, state.STATE, held, readable=True)

    def _begin_anew(self) -> None:
        """Begin an epoch: a run that dies on the way is gone on with by the next, whatever that was asked for."""
        from engram.vault import state

        with self.home.alone():
            held = state.load(self.home)
            held["totals"]["entries"] = 0
            state.write(self.home, state.STATE, {**held, "epoch": self.epoch}, readable=True)

    def _look_around(self) -> None:
        """Let some of the pages be found that people wrote or changed meanwhile, in turn."""
        from engram.vault import findable, state

        after = str(state.load(self.home).get("looked") or "")
        _, last = findable.refresh(self.hub, self.home, after, None if self.everything else _LOOKED)
        if last != after:
            with self.home.alone():
                state.write(self.home, state.STATE, {**state.load(self.home), "looked": last}, readable=True)

    def _result(self, diff: str = "") -> Compiled:
        parts = {
            name: tuple(dict.fromkeys(target for each in self.applied for target in getattr(each, name)))
            for name in ("created", "updated", "removed")
        }  # fmt: skip
        parts["updated"] = tuple(each for each in parts["updated"] if each not in parts["created"])
        return Compiled(
            logs=tuple(self.done), entries=self.entries, **parts, waiting=self.waiting, failed=self.failed,
            kept={target: kept for each in self.applied for target, kept in each.kept.items()},
            cost=round(self.cost, 6), tokens=self.tokens, dropped=self.dropped, diff=diff,
        )  # fmt: skip


def _diff(home: Vault, found: list[Write]) -> str:
    from difflib import unified_diff

    from engram.vault.writes import planned

    shown: list[str] = []
    for write in found:
        before, after = planned(home, write)
        if before != after:
            names = (f"a/{write.target}.md" if before is not None else "/dev/null", f"b/{write.target}.md")
            lines = ((before or "").splitlines(), (after or "").splitlines())
            shown += unified_diff(*lines, *names, lineterm="")
    return "\n".join(shown)
