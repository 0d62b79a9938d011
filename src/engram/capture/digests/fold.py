"""The digest of a session: a fold over its events that can be interrupted and continued.

The state is JSON of bounded size, stored with the facts, so that adding an event to a long session stays cheap.
"""

from __future__ import annotations

from typing import Any

from engram.capture.batch import hash_id
from engram.capture.digests.facts import build_facts
from engram.evidence import (
    command_counts,
    episodes,
    errors,
    git_files,
    intent,
    purposes,
    reports,
    requests,
    shell_commands,
    task_commands,
    titles,
)
from engram.evidence.actions import CallAction, classify_call
from engram.evidence.command_line import has_hidden_status
from engram.evidence.outcome import judge_outcome
from engram.evidence.run_output import has_build_failed, has_check_passed, judge_run
from engram.platform.text import to_one_line
from engram.types import Event

VERSION = 5  # version of the rules; increase it to rebuild older digests whose events are still stored

_FILES = 120  # maximum per kind
_COMMANDS = 24
_COMMITS = 12
_CHECKS = 12  # commands that passed and are remembered
_TASKS = 40
_REQUESTS = 6
_FRICTION = 10
_SUBAGENT_TOOLS = frozenset(("agent", "task", "spawn_agent", "delegate", "run_subagent", "subagent"))
_WAITING = 40  # calls still without a result
_PAUSE = 5 * 60 * 1_000_000  # longer pauses do not count as active time


class Fold:
    """The facts of a session so far."""

    def __init__(self, state: dict[str, Any] | None = None) -> None:
        self.state: dict[str, Any] = {**_build_empty_state(), **(state or {})}  # older rules had fewer facts
        self.state["errors"] = [error for error in self.state["errors"] if "part" in error]
        self.episodes = episodes.EpisodeFold(self.state["evidence"])
        self.version = VERSION

    @property
    def goal(self) -> str:
        """The user's first request, with its subject if it names none."""
        state = self.state
        asked = str(state["goal"] or state["prompt"] or state["summarized"])
        return titles.complete_goal(asked, state["evidence"]["episodes"], state["command"])

    def set_cwd(self, cwd: str | None) -> None:
        """Set the session's directory; file names are shown relative to it."""
        self.state["cwd"] = cwd or self.state.get("cwd")

    def set_relation(self, relation: str | None) -> None:
        """Set how the session belongs to another: a subagent is not abandoned when it ends."""
        if relation == "subagent":
            self.state["subagent"] = True

    def build_facts(self) -> dict[str, Any]:
        """Return the facts to store permanently: at most 2 KB of JSON, plus imported facts."""
        outcome, confidence, evidence = judge_outcome(self.state)
        digest_facts = build_facts(self.state, self.goal, evidence) | {"outcome": outcome, "confidence": confidence}
        return digest_facts | self.imported_facts

    @property
    def imported_facts(self) -> dict[str, Any]:
        """The facts of an imported digest, which override computed ones."""
        return dict(self.state.get("given") or {})

    def set_imported_facts(self, facts: dict[str, Any]) -> None:
        """Set the facts of an imported digest."""
        if facts:
            self.state["given"] = facts

    def judge_outcome(self) -> tuple[str, float]:
        """Return the outcome of the session and the confidence in it."""
        outcome, confidence, _ = judge_outcome(self.state)
        return outcome, confidence

    def add_event(self, event: Event) -> None:
        """Add the next event."""
        if event.at:
            self._track_time(event.at)
        if event.kind == "interrupt":
            self.state["interrupts"] += 1
            self.state["last"] = "interrupt"
            self.episodes.add_interrupt(event)
        handle = _HANDLERS.get(event.kind)
        if handle is not None:
            handle(self, event)

    def _track_time(self, at: int) -> None:
        state = self.state
        if state["from"] is None:
            state["from"] = at
        elif 0 < at - state["until"] < _PAUSE:
            state["active"] += at - state["until"]
        state["until"] = max(at, state["until"] or at)

    def _handle_message(self, event: Event) -> None:
        text = event.text.strip()
        if event.role == "user" and text:
            self._handle_request(text, event)
        elif event.role == "assistant" and text:
            self.state["ended"], self.state["last"] = text[-600:], "assistant"
            causes = self.episodes.add_agent_message(text, event, hash_id(event.key))
            if causes:
                errors.note_cause(self.state, causes[-1])
            errors.note_way_round(self.state, text)
            self._note_friction(text)
        elif event.name == "prompt" and not self.state["prompt"]:
            self.state["prompt"], self.state["last"] = text[:400], "user"
            self.state["turn"] += 1
            self.episodes.add_request(text, event, hash_id(event.key))

    def _handle_request(self, text: str, event: Event) -> None:
        """Add what a person typed; a slash command counts only with arguments."""
        state, message = self.state, requests.clean_request(text)
        if event.name == "command" and not state["command"]:
            state["command"] = requests.find_command(text)
        if event.name == "command" and requests.find_command(text):
            self.episodes.add_command(requests.find_command(text))
        if not message or (event.name == "command" and not requests.is_substantial(message)):
            return
        state["turn"] += 1
        corrects = self.episodes.add_request(text, event, hash_id(event.key))
        if not state["goal"]:
            if requests.is_substantial(message):
                state["goal"] = requests.find_goal(message, 600)
        elif corrects or (state["last"] in ("assistant", "interrupt", "result") and intent.is_correction(message)):
            state["corrections"] += 1
            state["objected"] = [len(state["commits"]) + state["dropped"], state["tests"]["runs"], state["pushed"]]
            state["objections"] = [*state["objections"], to_one_line(message, 140)][-5:]
        elif len(state["requests"]) < _REQUESTS and requests.is_substantial(message):
            state["requests"].append(requests.find_goal(message, 90))
        state["said"], state["last"] = message[:400], "user"

    def _note_friction(self, text: str) -> None:
        lines = [line for line in reports.find_friction(text) if line not in self.state["friction"]]
        self.state["friction"] = [*self.state["friction"], *lines][-_FRICTION:]

    def _handle_call(self, event: Event) -> None:
        state, action = self.state, classify_call(event.name, event.arguments)
        state["acts"] += 1
        state["last"] = "call"
        tool = event.name or "call"
        state["tools"][tool] = state["tools"].get(tool, 0) + 1
        if len(state["tools"]) > 60:
            del state["tools"][tool]
        if action.todo:
            state["todo"] = [[to_one_line(text, 100), finished] for text, finished in action.todo[:30]]
        self.episodes.add_call(action, event, hash_id(event.key))
        waiting = state["waiting"]
        if event.call_id:
            waiting[event.call_id] = [
                action.kind,
                action.subject[:2000],
                list(action.reads[:20]),
                list(action.changes[:20]),
                action.detail,
                action.lines,
            ]
            if len(waiting) > _WAITING:
                del waiting[next(iter(waiting))]

    def _handle_result(self, event: Event) -> None:
        state, key = self.state, hash_id(event.key)
        action = _restore_action(state["waiting"].pop(event.call_id, None))
        state["last"] = "result"
        failed = event.verdict == "error" or bool(event.exit_code)
        self.episodes.add_result(action, event, key, failed)
        if event.verdict in ("denied", "interrupted"):
            state["denials"] += event.verdict == "denied"
            command_counts.note_refusal(state, action, event)
            return
        if not failed:
            _count_files(state["read"], action.reads)
            _count_files(state["changed"], action.changes)
            self._add_files_of_git(action, event.text)
        passed = self._record_command(action, event, failed) if action.kind == "run" else not failed
        if passed is None:
            self.episodes.dirty |= errors.note_seen(state, action, event.text, key)
        if passed is False or (failed and passed) or (passed is None and errors.is_hidden_failure(action, event.text)):
            self.episodes.dirty |= errors.record(state, action, event, key, self.episodes.number)
        else:
            self.episodes.dirty |= errors.note_done(state, action, key, passed, event.text)

    def _add_files_of_git(self, action: CallAction, output: str) -> None:
        """Add the files that git names: those added to a commit, and those a subagent changed."""
        if action.kind != "run" or "git" not in action.subject:
            return
        paths = git_files.list_added(action.subject)
        if any(name.lower() in _SUBAGENT_TOOLS for name in self.state["tools"]):
            paths += git_files.list_changed(action.subject, output)
        _count_files(self.state["changed"], paths)
        self.episodes.add_changed(paths)

    def _record_command(self, action: CallAction, event: Event, failed: bool) -> bool | None:
        """Record a command; return whether it did what it was for, None if that is not known."""
        state, (purpose, run) = self.state, purposes.find_run(action.subject)
        state["commands"] += 1
        passed = False if failed else None if has_hidden_status(action.subject) else True
        if run and purpose in (purposes.TEST, purposes.BUILD, purposes.LINT):
            passed = judge_run(event.text, run.status, event.exit_code, failed)
            if purpose != purposes.TEST and run.status == "hidden" and has_build_failed(event.text):
                passed = False
            elif purpose != purposes.TEST and passed is None and has_check_passed(event.text):
                passed = True  # compilers and linters have nothing to say
            self._record_run(purpose, passed)
            if passed:
                self._note_passed(to_one_line(action.subject, 300), event.at)
            failed = failed if passed is None else not passed
            passed = False if failed else passed
        elif purpose == purposes.REVERT and not failed:
            state["reverted"] += 1
            state["reverted_at"] = len(state["commits"]) + state["dropped"]
            self.episodes.note_revert()
        elif purpose == purposes.PUSH and not failed:
            state["pushed"] += 1
            self.episodes.note_push()
        elif purpose == purposes.COMMIT and not failed:
            self._record_commit(action, event)
        self._count_tasks(action.subject, event, purpose, passed, failed)
        state["failed"] += failed
        if purpose or failed:
            code = event.exit_code if event.exit_code is not None else int(failed)
            state["notable"] = [*state["notable"], [shell_commands.shorten_command(action.subject), code]][-_COMMANDS:]
        command_counts.count_command(state, action.subject, event, passed)
        return passed

    def _count_tasks(self, line: str, event: Event, judged: str, passed: bool | None, failed: bool) -> None:
        """Count the commands that set up, build, test, lint, run or release the project, and whether they passed."""
        tasks, cwd = self.state["tasks"], self.state.get("cwd") or ""
        for task in task_commands.list_task_runs(line):
            directory = task_commands.locate(task.directory, cwd)
            if directory is None:
                continue
            if task.purpose == judged:
                verdict = passed
            else:
                verdict = {"hidden": None, "zero": None if failed else True}.get(task.status, not failed)
            key = "\t".join((task.purpose, directory, str(int(task.is_whole)), task.command))
            counts = tasks.pop(key, None) or {"passed": 0, "failed": 0, "unknown": 0, "passed_at": 0, "failed_at": 0}
            name = "unknown" if verdict is None else "passed" if verdict else "failed"
            counts[name] += 1
            if verdict is not None:
                counts[f"{name}_at"] = max(counts[f"{name}_at"], event.at or 0)
            tasks[key] = counts
            if len(tasks) > _TASKS:
                del tasks[next(iter(tasks))]

    def _record_run(self, purpose: str, passed: bool | None) -> None:
        """Record a run of tests, a build or a check; `passed` is None if neither its output nor its status tells."""
        state = self.state
        if purpose == purposes.TEST:
            tests = state["tests"]
            tests["runs"] += 1
            tests["last"] = passed if passed is not None else "unknown"
            tests["failed"] += passed is False
        else:  # after a run whose result is hidden, an earlier failure says nothing
            state["last_build"] = passed if passed is not None else state["last_build"] or None
        self.episodes.note_run(purpose, passed)

    def _note_passed(self, command: str, at: int | None) -> None:
        """Remember the last time that a check passed."""
        passed = self.state["passed"]
        passed.pop(command, None)
        passed[command] = at
        if len(passed) > _CHECKS:
            del passed[next(iter(passed))]

    def _record_commit(self, action: CallAction, event: Event) -> None:
        state = self.state
        subject = to_one_line(shell_commands.describe_commit(action.subject, event.text), 120)
        state["commits"].append(subject)
        self.episodes.note_commit(subject, shell_commands.find_branch(event.text))
        if len(state["commits"]) > _COMMITS:
            del state["commits"][0]
            state["dropped"] += 1

    def _handle_compaction(self, event: Event) -> None:
        self.state["compactions"] += event.name != "summary"
        if not self.state["summarized"]:
            self.state["summarized"] = requests.find_summarized_request(event.text)

    def _handle_lifecycle(self, event: Event) -> None:
        name = event.name or ""
        if name == "api_error" or (event.verdict == "error" and "error" in name):
            self.state["api_errors"] += 1
            self.state["last"] = "api_error"
        elif event.verdict in ("ok", "error") and name.startswith(("turn", "task", "session", "goal")):
            verdicts = self.state["verdicts"]
            verdicts[event.verdict] = verdicts.get(event.verdict, 0) + 1


_HANDLERS = {
    "message": Fold._handle_message, "call": Fold._handle_call, "result": Fold._handle_result,
    "compaction": Fold._handle_compaction, "lifecycle": Fold._handle_lifecycle,
}  # fmt: skip


def _restore_action(pending: list[Any] | None) -> CallAction:
    """Return the action of a call from what was kept of it until its result."""
    known: list[Any] = [*(pending or ["other", "", [], []]), "", ""]  # what older rules kept had no lines
    kind, subject, reads, changes, detail, lines = known[:6]
    return CallAction(
        kind=kind, subject=subject, reads=tuple(reads), changes=tuple(changes), detail=detail, lines=lines
    )


def _count_files(files: dict[str, int], paths: tuple[str, ...]) -> None:
    for path in paths:
        if path in files or len(files) < _FILES:
            files[path] = files.get(path, 0) + 1


def _build_empty_state() -> dict[str, Any]:
    return {
        "command": "", "summarized": "", "goal": "", "prompt": "", "said": "", "ended": "", "last": "", "turn": 0,
        "acts": 0, "from": None, "until": 0, "active": 0, "read": {}, "changed": {}, "tools": {}, "todo": [],
        "waiting": {}, "commands": 0, "failed": 0,
        "notable": [], "errors": [], "trail": [], "step": 0, "passed": {}, "tasks": {}, "runs": {}, "refused": {},
        "tests": {"runs": 0, "failed": 0, "last": None}, "last_build": None,
        "commits": [], "dropped": 0, "objected": None, "requests": [], "reverted": 0, "pushed": 0, "corrections": 0,
        "objections": [], "friction": [], "interrupts": 0, "denials": 0, "compactions": 0, "api_errors": 0,
        "verdicts": {}, "evidence": episodes.build_empty_state(),
    }  # fmt: skip
