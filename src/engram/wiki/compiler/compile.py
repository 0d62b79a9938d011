"""Compile what is new into the wiki: pages of projects from evidence by rules, articles from daily logs by a model.

The pages of a project are built when its evidence changed. If the model fails on a log, the log is not marked as
compiled, and it is retried later.
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
    from collections.abc import Callable, Iterable

    from engram.store.engine import Row
    from engram.wiki.compiler.log_compilation import LogCompilation
    from engram.wiki.compiler.project_compilation import ProjectCompilation
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
    projects: tuple[str, ...] = ()  # projects whose pages were built


@operation(writes=True, agent=False)
def compile(  # noqa: A001  the word users know
    hub: Hub,
    everything: Annotated[bool, Help("recompile every project and log, even if unchanged")] = False,
    file: Annotated[str | None, Help("only this log, given by day or file; ignores the schedule")] = None,
    dry_run: Annotated[bool, Help("show what the rules would change; write nothing and call no model")] = False,
) -> CompileResult:
    """Compile what is new in projects and daily logs into the wiki now."""
    return compile_logs(hub, everything=everything, file=file, dry_run=dry_run, is_requested=True)


def compile_logs(
    hub: Hub, *, everything: bool = False, file: str | None = None, dry_run: bool = False, is_requested: bool = False,
    report_progress: Progress | None = None,
) -> CompileResult:  # fmt: skip
    """Compile the projects and logs that are due, or all changed ones on request; one compiler at a time per vault."""
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


def count_due(hub: Hub) -> int:
    """Count the projects and logs that are due."""
    from engram.wiki.vault import vault

    due = _CompileRun(hub, vault.open_vault(hub), everything=False, day=None)
    return len(due.list_due_days()) + len(due.list_due_projects())


def compile_projects(hub: Hub, projects: Iterable[str]) -> CompileResult:
    """Build the pages of some projects now, whenever they were built before."""
    from engram.capture.sweep_lock import SweepLock
    from engram.wiki.vault import vault
    from engram.wiki.vault import write_batch as writes

    wiki = vault.open_vault(hub)
    with SweepLock(wiki.own_dir, "compile.lock", CompileRunning):
        writes.finish_journal(hub, wiki)
        return _CompileRun(hub, wiki, everything=False, day=None).run_projects(projects)


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
    """One pass over the projects and logs that are due."""

    def __init__(self, hub: Hub, wiki: Vault, *, everything: bool, day: str | None, is_requested: bool = False) -> None:
        from engram.wiki.vault import state

        if everything and day:
            raise InvalidInput(field="file", reason="Give one log, or compile everything, not both.")
        self.hub, self.wiki, self.everything, self.day, self.is_requested = hub, wiki, everything, day, is_requested
        self.saved = state.load_state(wiki)
        self.epoch = int(self.saved["epoch"]) + everything
        self.now = hub.now()
        self.at = to_datetime(self.now).astimezone(load_timezone(hub.settings.timezone)).isoformat(timespec="seconds")
        self.applied: list[BatchResult] = []
        self.done: list[str] = []
        self.projects: list[str] = []
        self.waiting: dict[str, str] = {}
        self.failed: dict[str, str] = {}
        self.cost, self.tokens, self.dropped, self.entries = 0.0, 0, 0, 0
        self.model_error: Error | None = None  # why the model cannot be called any more in this run
        self.model_off = hub.settings.model in ("", NONE) or call_budget.is_silent()

    def run(self, report_progress: Progress) -> CompileResult:
        """Compile and write what is due; what fails does not stop the rest."""
        if self.everything:
            self._begin_epoch()
        due_projects, due_days = self.list_due_projects(), self.list_due_days()
        total = len(due_projects) + len(due_days)
        for number, row in enumerate(due_projects):
            report_progress("compiled", number, total)
            self._try_project(row)
        if self.is_first and not self.day:
            self._remove_older_pages()
        for number, day in enumerate(due_days, len(due_projects)):
            report_progress("compiled", number, total)
            try:
                self._compile_log(day)
            except Exception as problem:
                self._record_failure(day, problem)
        report_progress("compiled", total, total)
        self._refresh_some_pages()
        return self._build_result()

    def run_projects(self, projects: Iterable[str]) -> CompileResult:
        """Build the pages of some projects."""
        waiting = {row["key"]: row for row in self._list_waiting()}
        for project in projects:
            self._try_project(waiting.get(project) or {"key": project, "changes": None})
        return self._build_result()

    def preview(self) -> CompileResult:
        """Return what would be written."""
        from engram.wiki.compiler import older_pages

        compiled = [self._prepare_project(row["key"]) for row in self.list_due_projects()]
        writes = [write for compilation in compiled for write in compilation.writes]
        if self.is_first and not self.day:
            writes += older_pages.list_removals(self.wiki, {write.target for write in writes})
        self.projects = [compilation.project for compilation in compiled]
        for day in self.list_due_days():
            self.entries += len(self._prepare_log(day).new_entries)
            self.done.append(day)
        diff = _format_diff(self.wiki, writes)
        return self._build_result(diff or ("No page would change." if self.done or self.projects else ""))

    # ---- Projects

    @property
    def is_first(self) -> bool:
        """Whether the pages in this vault were never built by these rules, or are to be built again."""
        from engram.wiki.project_pages.page_draft import RULES

        return self.everything or self.saved.get("rules") != RULES or self.saved.get("rules_epoch", 0) != self.epoch

    def list_due_projects(self) -> list[Row]:
        """Return the projects whose evidence changed since their pages were built, and that need not wait."""
        from engram.wiki.vault import daily_log, due_logs

        if self.day:
            return []
        today = daily_log.local_day(self.now, self.hub.settings.timezone)
        interval, due = self.hub.settings.compile_interval_minutes, []
        for row in self._list_changed_projects():
            log = self.saved["projects"].get(row["key"], {})
            wait_reason = "" if self.is_requested else due_logs.find_wait_reason(log, today, today, self.now, interval)
            self.waiting |= {row["key"]: wait_reason} if wait_reason else {}
            due += [] if wait_reason else [row]
        return due

    def _list_changed_projects(self) -> list[Row]:
        waiting = self._list_waiting()
        if not self.is_first:
            return waiting
        from engram.store import sessions

        known = {row["key"] for row in waiting}
        others = {*sessions.list_projects(self.hub.engine), *self.saved["projects"]} - known
        return [*waiting, *({"key": project, "changes": None} for project in sorted(others))]

    def _list_waiting(self) -> list[Row]:
        from engram.store import dream_inbox

        return dream_inbox.list_waiting(self.hub.engine, dream_inbox.COMPILE)

    def _prepare_project(self, project: str) -> ProjectCompilation:
        from engram.wiki.compiler.project_compilation import ProjectCompilation

        return ProjectCompilation(self.hub, self.wiki, project, anew=self.everything)

    def _try_project(self, row: Row) -> None:
        from engram.store import dream_inbox

        try:
            self._compile_project(row)
        except Exception as problem:
            self._record_failure(row["key"], problem, kind="projects")
            with self.hub.engine.transaction():
                dream_inbox.mark_new(self.hub.engine, dream_inbox.COMPILE, [row["key"]], self.now)

    def _compile_project(self, row: Row) -> None:
        """Build the pages of a project; the mark that it changed is removed once they are written."""
        from engram.store import dream_inbox
        from engram.wiki.vault import write_batch as writes

        project = row["key"]
        compilation = self._prepare_project(project)
        applied = writes.commit_writes(
            self.hub, self.wiki, compilation.writes, what="compile", subject=f"project {project}", at=self.at,
            files=compilation.build_files(), patch={"projects": {project: {"compiled_at": self.at}}},
            again=self._list_written_pages(),
        )  # fmt: skip
        self.applied.append(applied)
        self.projects.append(project)
        if row["changes"] is not None:
            with self.hub.engine.transaction():
                dream_inbox.mark_done(self.hub.engine, dream_inbox.COMPILE, row)

    def _remove_older_pages(self) -> None:
        """Remove what older rules made and these do not make, once; pages that people edited stay."""
        from engram.wiki.compiler import older_pages
        from engram.wiki.project_pages.page_draft import RULES
        from engram.wiki.vault import state
        from engram.wiki.vault import write_batch as writes

        if self.failed:
            return  # the next run tries again
        older = older_pages.list_removals(self.wiki, self._list_written_pages())
        if not (older or self.projects or self.saved["logs"]) and not state.has_state(self.wiki):
            return  # there is nothing yet
        applied = writes.commit_writes(
            self.hub, self.wiki, older, what="compile", subject="pages of older rules", at=self.at,
            patch={"rules": RULES, "rules_epoch": self.epoch},
        )  # fmt: skip
        self.applied.append(applied)
        older_pages.remove_files(self.wiki)

    # ---- Logs

    def list_due_days(self) -> list[str]:
        """Return the days to compile, oldest first."""
        from engram.wiki.vault import daily_log, due_logs

        if self.day:
            return [self.day]
        if self.everything:
            return daily_log.list_days(self.wiki)
        logs, due_days = self.saved["logs"], []
        today = daily_log.local_day(self.now, self.hub.settings.timezone)
        stamps = due_logs.read_stamps(self.wiki)
        touched = [day for day, stamp in stamps.items() if self._is_touched(logs.get(day), stamp)]
        for day in sorted(filter(daily_log.is_day, touched)):
            log = logs.get(day, {})
            if self._is_unchanged(day, log):
                continue
            interval = self.hub.settings.compile_interval_minutes
            wait_reason = "" if self.is_requested else due_logs.find_wait_reason(log, day, today, self.now, interval)
            self.waiting |= {day: wait_reason} if wait_reason else {}
            due_days += [] if wait_reason else [day]
        return due_days

    def _is_touched(self, log: dict[str, Any] | None, stamp: list[int]) -> bool:
        """Return whether a log may have changed since it was compiled in this epoch."""
        return not log or log.get("stamp") != stamp or log.get("epoch", 0) != self.epoch or "hash" not in log

    def _is_unchanged(self, day: str, log: dict[str, Any]) -> bool:
        from engram.wiki.vault import due_logs

        if "hash" not in log or log.get("epoch", 0) != self.epoch:
            return False
        return bool(log["hash"] == due_logs.hash_text(self.wiki.read(f"daily/{day}") or ""))

    def _prepare_log(self, day: str) -> LogCompilation:
        from engram.wiki.compiler.log_compilation import LogCompilation

        return LogCompilation(self.wiki, self.epoch, day)

    def _compile_log(self, day: str) -> None:
        from engram.wiki.vault import state
        from engram.wiki.vault import write_batch as writes

        saved_state = state.load_state(self.wiki)
        totals = saved_state["totals"]
        compilation = self._prepare_log(day)
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

    def _record_failure(self, name: str, problem: Exception, kind: str = "logs") -> None:
        """Record that a log or a project failed, and when it is tried again."""
        from engram.wiki.vault import due_logs, state

        self.failed[name] = format_error(problem)
        with self.wiki.hold_lock():
            saved_state = state.load_state(self.wiki)
            saved_state[kind][name] = due_logs.record_failure(
                saved_state[kind].get(name, {}), self.failed[name], self.now
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
            logs=tuple(self.done), projects=tuple(self.projects), entries=self.entries, **parts, waiting=self.waiting,
            failed=self.failed,
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
