"""Compile what is new in daily logs into the wiki.

Rules make pages from every log; a model, if configured, adds articles. If the model fails on a log, the pages made by
rules stay, the log is not marked as compiled, and it is retried later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from engram.clock import load_timezone, to_datetime
from engram.errors import CompileRunning, Error, InvalidInput, ModelInvalid, ModelOff, NotFound
from engram.hub import Hub
from engram.models import call_budget
from engram.models.registry import NONE
from engram.operation import Help, operation
from engram.platform.text import format_error, to_one_line, validate_optional_name
from engram.platform.value import value

if TYPE_CHECKING:
    from collections.abc import Callable

    from engram.wiki.compiler.log_compilation import LogCompilation
    from engram.wiki.vault.vault import Vault
    from engram.wiki.vault.write_batch import BatchResult, PageWrite

    Progress = Callable[[str, int, int], None]  # step name, number done, total

_PAGES_PER_RUN = 128  # pages checked for edits by people, per run


@value
class CompileResult:
    """The result of a compile."""

    logs: tuple[str, ...]  # days compiled
    entries: int  # new entries in them
    created: tuple[str, ...]
    updated: tuple[str, ...]
    removed: tuple[str, ...]
    kept: dict[str, list[str]]  # pages, with the sections kept because people edited them
    waiting: dict[str, str]  # changed logs that are not due yet, and why
    failed: dict[str, str]  # failed logs that will be retried, and why
    cost: float = 0.0  # US dollars
    tokens: int = 0  # model calls
    dropped: int = 0  # articles of the model that were rejected
    diff: str = ""  # diff of a dry run


@operation(writes=True, agent=False)
def compile(  # noqa: A001  the word users know
    hub: Hub,
    everything: Annotated[bool, Help("recompile every log, even if unchanged")] = False,
    file: Annotated[str | None, Help("only this log, given by day or file; ignores the schedule")] = None,
    dry_run: Annotated[bool, Help("show what the rules would change; write nothing and call no model")] = False,
) -> CompileResult:
    """Compile what is new in the daily logs into the wiki now."""
    return compile_logs(hub, everything=everything, file=file, dry_run=dry_run, is_requested=True)


def compile_logs(
    hub: Hub, *, everything: bool = False, file: str | None = None, dry_run: bool = False, is_requested: bool = False,
    report_progress: Progress | None = None,
) -> CompileResult:  # fmt: skip
    """Compile the logs that are due, or all changed ones on request; one compiler at a time per vault."""
    from engram.capture.sweep_lock import SweepLock
    from engram.wiki.vault import vault
    from engram.wiki.vault import write_batch as writes

    wiki = vault.open_vault(hub)
    day = _parse_day(wiki, file)
    if dry_run:
        return _CompileRun(hub, wiki, everything=everything, day=day, is_requested=is_requested).preview()
    with SweepLock(wiki.own_dir, "compile.lock", CompileRunning):
        writes.finish_journal(hub, wiki)
        return _CompileRun(hub, wiki, everything=everything, day=day, is_requested=is_requested).run(
            report_progress or (lambda *_: None)
        )


def due_days(hub: Hub) -> list[str]:
    """Return the days whose logs are due, oldest first."""
    from engram.wiki.vault import vault

    return _CompileRun(hub, vault.open_vault(hub), everything=False, day=None).list_due_days()


def _parse_day(wiki: Vault, file: str | None) -> str | None:
    """Parse the day of a log given by the user."""
    import os

    from engram.wiki.vault import daily_log

    log_name = validate_optional_name("file", file)
    if log_name is None:
        return None
    day = os.path.basename(log_name).removesuffix(".md")
    if day not in daily_log.list_days(wiki):
        raise NotFound(kind="daily log", id=log_name, hint="Use a day such as 2026-11-16 that has a file in `daily/`.")
    return day


class _CompileRun:
    """One pass over the logs that are due."""

    def __init__(self, hub: Hub, wiki: Vault, *, everything: bool, day: str | None, is_requested: bool = False) -> None:
        from engram.wiki.compiler.topic_catalog import TopicCatalog
        from engram.wiki.vault import state

        if everything and day:
            raise InvalidInput(field="file", reason="Give one log, or compile all of them, not both.")
        self.hub, self.wiki, self.everything, self.day, self.is_requested = hub, wiki, everything, day, is_requested
        self.epoch = int(state.load_state(wiki)["epoch"]) + everything
        self.catalog = TopicCatalog(wiki, self.epoch)
        self.now = hub.now()
        self.at = to_datetime(self.now).astimezone(load_timezone(hub.settings.timezone)).isoformat(timespec="seconds")
        self.applied: list[BatchResult] = []
        self.done: list[str] = []
        self.waiting: dict[str, str] = {}
        self.failed: dict[str, str] = {}
        self.cost, self.tokens, self.dropped, self.entries = 0.0, 0, 0, 0
        self.model_error: Error | None = None  # why the model cannot be called any more in this run
        self.model_off = hub.settings.model in ("", NONE) or call_budget.is_silent()

    def run(self, report_progress: Progress) -> CompileResult:
        """Compile and write what is due; a failing log does not stop the others."""
        if self.everything:
            self._begin_epoch()
        due_days = self.list_due_days()
        for number, day in enumerate(due_days):
            report_progress("compiled", number, len(due_days))
            try:
                self._compile_log(day)
            except Exception as problem:
                self._record_failure(day, problem)
        report_progress("compiled", len(due_days), len(due_days))
        self._refresh_some_pages()
        return self._build_result()

    def preview(self) -> CompileResult:
        """Return what would be written."""
        from engram.wiki.vault import state

        writes_by_target: dict[str, PageWrite] = {}
        total = 0 if self.everything else int(state.load_state(self.wiki)["totals"]["entries"])
        for day in self.list_due_days():
            compilation = self._prepare_log(day, total)
            total += len(compilation.new_entries)
            self.entries += len(compilation.new_entries)
            writes_by_target |= {write.target: write for write in compilation.writes}
            self.done.append(day)
        diff = _format_diff(self.wiki, list(writes_by_target.values()))
        return self._build_result(diff or ("No page would change." if self.done else ""))

    def list_due_days(self) -> list[str]:
        """Return the days to compile, oldest first."""
        from engram.wiki.vault import daily_log, due_logs, state

        if self.day:
            return [self.day]
        if self.everything:
            return daily_log.list_days(self.wiki)
        logs, due_days = state.load_state(self.wiki)["logs"], []
        today = daily_log.local_day(self.now, self.hub.settings.timezone)
        stamps = due_logs.read_stamps(self.wiki)
        for day in sorted(filter(daily_log.is_day, stamps)):
            log = logs.get(day, {})
            if self._is_unchanged(day, log, stamps[day]):
                continue
            interval = self.hub.settings.compile_interval_minutes
            wait_reason = "" if self.is_requested else due_logs.find_wait_reason(log, day, today, self.now, interval)
            self.waiting |= {day: wait_reason} if wait_reason else {}
            due_days += [] if wait_reason else [day]
        return due_days

    def _is_unchanged(self, day: str, log: dict[str, Any], stamp: list[int]) -> bool:
        from engram.wiki.vault import due_logs

        if "hash" not in log or log.get("epoch", 0) != self.epoch:
            return False
        if log.get("stamp") == stamp:
            return True
        return bool(log["hash"] == due_logs.hash_text(self.wiki.read(f"daily/{day}") or ""))

    def _prepare_log(self, day: str, total: int) -> LogCompilation:
        from engram.wiki.compiler.log_compilation import LogCompilation

        return LogCompilation(self.wiki, self.catalog, day, total, anew=self.everything)

    def _compile_log(self, day: str) -> None:
        from engram.wiki.vault import state
        from engram.wiki.vault import write_batch as writes

        saved_state = state.load_state(self.wiki)
        totals = saved_state["totals"]
        compilation = self._prepare_log(day, int(totals["entries"]))
        problem = self._ask_model(compilation)
        log = compilation.build_log_record(saved_state["logs"].get(day, {}), self.at, self.now, problem)
        new_totals = {"compiled": totals["compiled"] + 1, "entries": totals["entries"] + len(compilation.new_entries),
                 "cost": totals["cost"] + compilation.cost}  # fmt: skip
        files = compilation.build_files(log)
        applied = writes.commit_writes(
            self.hub, self.wiki, compilation.writes, what="compile", subject=f"daily/{day}", at=self.at, files=files,
            patch={"logs": {day: log}, "totals": new_totals}, again=self._list_written_pages(),
        )  # fmt: skip
        self.applied.append(applied)
        self.cost, self.tokens = self.cost + compilation.cost, self.tokens + compilation.tokens
        self.dropped, self.entries = self.dropped + compilation.dropped, self.entries + len(compilation.new_entries)
        if problem:
            self.failed[day] = problem
        else:
            self.done.append(day)

    def _list_written_pages(self) -> set[str]:
        """Return the pages this run has written so far."""
        return {target for batch in self.applied for target in (*batch.created, *batch.updated)}

    def _ask_model(self, compilation: LogCompilation) -> str:
        """Let the model add to the pages of a log; return why it could not."""
        if self.model_off or not compilation.unread_entries:
            return ""
        try:
            if self.model_error is not None:
                raise self.model_error
            compilation.ask_model(self.hub, self.at[:10])
        except ModelOff:
            self.model_off = True  # inside a hook or another model call: no model is requested here
        except Error as problem:
            self.model_error = None if isinstance(problem, ModelInvalid) else problem
            return to_one_line(str(problem), 300)
        return ""

    def _record_failure(self, day: str, problem: Exception) -> None:
        """Record that a log failed; its state may be half changed in memory, so load it again."""
        from engram.wiki.compiler.topic_catalog import TopicCatalog
        from engram.wiki.vault import due_logs, state

        self.failed[day] = format_error(problem)
        self.catalog = TopicCatalog(self.wiki, self.epoch)
        with self.wiki.hold_lock():
            saved_state = state.load_state(self.wiki)
            saved_state["logs"][day] = due_logs.record_failure(
                saved_state["logs"].get(day, {}), self.failed[day], self.now
            )
            state.write_file(self.wiki, state.STATE, saved_state, readable=True)

    def _begin_epoch(self) -> None:
        """Start an epoch: if this run dies, the next one continues it, whatever it was asked for."""
        from engram.wiki.vault import state

        with self.wiki.hold_lock():
            saved_state = state.load_state(self.wiki)
            saved_state["totals"]["entries"] = 0
            state.write_file(self.wiki, state.STATE, {**saved_state, "epoch": self.epoch}, readable=True)

    def _refresh_some_pages(self) -> None:
        """Refresh the search index for some of the pages that people changed, in turn."""
        from engram.wiki.vault import article_passages, state

        after = str(state.load_state(self.wiki).get("looked") or "")
        _, last = article_passages.refresh_articles(
            self.hub, self.wiki, after, None if self.everything else _PAGES_PER_RUN
        )
        if last != after:
            with self.wiki.hold_lock():
                state.write_file(self.wiki, state.STATE, {**state.load_state(self.wiki), "looked": last}, readable=True)

    def _build_result(self, diff: str = "") -> CompileResult:
        parts = {
            name: tuple(dict.fromkeys(target for item in self.applied for target in getattr(item, name)))
            for name in ("created", "updated", "removed")
        }  # fmt: skip
        parts["updated"] = tuple(item for item in parts["updated"] if item not in parts["created"])
        return CompileResult(
            logs=tuple(self.done), entries=self.entries, **parts, waiting=self.waiting, failed=self.failed,
            kept={target: headings for item in self.applied for target, headings in item.kept.items()},
            cost=round(self.cost, 6), tokens=self.tokens, dropped=self.dropped, diff=diff,
        )  # fmt: skip


def _format_diff(wiki: Vault, writes: list[PageWrite]) -> str:
    from difflib import unified_diff

    from engram.wiki.vault.write_batch import preview_write

    diff_lines: list[str] = []
    for write in writes:
        before, after = preview_write(wiki, write)
        if before != after:
            names = (f"a/{write.target}.md" if before is not None else "/dev/null", f"b/{write.target}.md")
            lines = ((before or "").splitlines(), (after or "").splitlines())
            diff_lines += unified_diff(*lines, *names, lineterm="")
    return "\n".join(diff_lines)
