"""The digest of a session: a fold over its events that can be interrupted and continued.

The state is JSON of bounded size, stored with the facts, so that adding an event to a long session stays cheap.
"""

from __future__ import annotations

from typing import Any

from engram.capture.digests.facts import build_facts
from engram.evidence import intent, shell_commands
from engram.evidence.actions import CallAction, classify_call
from engram.evidence.outcome import judge_outcome
from engram.platform.text import to_one_line
from engram.types import Event

VERSION = 1  # version of the rules; increase it to rebuild older digests whose events are still stored

_FILES = 120  # maximum per kind
_ERRORS = 24
_COMMANDS = 24
_COMMITS = 12
_REQUESTS = 6
_WAITING = 40  # calls still without a result
_PAUSE = 5 * 60 * 1_000_000  # longer pauses do not count as active time


class Fold:
    """The facts of a session so far."""

    def __init__(self, state: dict[str, Any] | None = None) -> None:
        self.state: dict[str, Any] = state or _build_empty_state()
        self.version = VERSION

    @property
    def goal(self) -> str:
        """The user's first request."""
        return str(self.state["goal"] or self.state["prompt"])

    def set_cwd(self, cwd: str | None) -> None:
        """Set the session's directory; file names are shown relative to it."""
        self.state["cwd"] = cwd or self.state.get("cwd")

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
        if event.role == "user" and text and event.name != "command":
            self._handle_request(text)
        elif event.role == "assistant" and text:
            self.state["ended"], self.state["last"] = text[-600:], "assistant"
        elif event.name == "prompt" and not self.state["prompt"]:
            self.state["prompt"], self.state["last"] = text[:400], "user"
            self.state["turn"] += 1

    def _handle_request(self, text: str) -> None:
        state = self.state
        state["turn"] += 1
        if not state["goal"]:
            state["goal"] = text[:600]
        elif state["last"] in ("assistant", "interrupt", "result") and intent.is_correction(text):
            state["corrections"] += 1
            state["objected"] = [len(state["commits"]) + state["dropped"], state["tests"]["runs"], state["pushed"]]
            state["objections"] = [*state["objections"], to_one_line(text, 140)][-5:]
        elif len(state["requests"]) < _REQUESTS:
            state["requests"].append(to_one_line(text, 90))
        state["said"], state["last"] = text[:400], "user"

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
        waiting = state["waiting"]
        if event.call_id:
            waiting[event.call_id] = [
                action.kind,
                action.subject[:2000],
                list(action.reads[:20]),
                list(action.changes[:20]),
            ]
            if len(waiting) > _WAITING:
                del waiting[next(iter(waiting))]

    def _handle_result(self, event: Event) -> None:
        state = self.state
        pending_call = state["waiting"].pop(event.call_id, None)
        kind, subject, reads, changes = pending_call or ("other", "", [], [])
        action = CallAction(kind=kind, subject=subject, reads=tuple(reads), changes=tuple(changes))
        state["last"] = "result"
        if event.verdict in ("denied", "interrupted"):
            state["denials"] += event.verdict == "denied"
            return
        failed = event.verdict == "error" or bool(event.exit_code)
        if not failed:
            _count_files(state["read"], action.reads)
            _count_files(state["changed"], action.changes)
        if action.kind == "run":
            self._record_command(action, event, failed)
        if failed:
            self._record_error(action, event)
        else:
            self._mark_fixed(action)

    def _record_command(self, action: CallAction, event: Event, failed: bool) -> None:
        state, purpose = self.state, shell_commands.find_purpose(action.subject)
        state["commands"] += 1
        state["failed"] += failed
        if purpose == "test":
            self._record_tests(event, failed)
        elif purpose == "build":
            state["last_build"] = not failed
        elif purpose == "revert" and not failed:
            state["reverted"] += 1
        elif purpose == "push" and not failed:
            state["pushed"] += 1
        elif purpose == "commit" and not failed:
            state["commits"].append(to_one_line(shell_commands.describe_commit(action.subject, event.text), 120))
            if len(state["commits"]) > _COMMITS:
                del state["commits"][0]
                state["dropped"] += 1
        if purpose or failed:
            entry = [
                shell_commands.shorten_command(action.subject),
                event.exit_code if event.exit_code is not None else int(failed),
            ]
            state["notable"] = [*state["notable"], entry][-_COMMANDS:]

    def _record_tests(self, event: Event, failed: bool) -> None:
        tests = self.state["tests"]
        tests["runs"] += 1
        passed = shell_commands.have_tests_passed(event.text[-6000:], event.exit_code, failed)
        tests["last"] = passed if passed is not None else tests["last"]
        tests["failed"] += passed is False

    def _record_error(self, action: CallAction, event: Event) -> None:
        state, line = self.state, shell_commands.find_error_line(event.text)
        if not line:
            return
        error_signature = shell_commands.normalize_error(line)
        about = shell_commands.get_command_key(action.subject) if action.kind == "run" else action.subject
        for error in state["errors"]:
            if error["known"] == error_signature:
                error.update(times=error["times"] + 1, open=True, turn=state["turn"], about=about, since=[])
                return
        state["errors"].append(
            {
                "known": error_signature,
                "line": to_one_line(line, 160),
                "about": about,
                "times": 1,
                "open": True,
                "fix": "",
                "turn": state["turn"],
                "since": [],
            }
        )
        if len(state["errors"]) > _ERRORS:
            state["errors"].pop(next((n for n, e in enumerate(state["errors"]) if not e["open"]), 0))

    def _mark_fixed(self, action: CallAction) -> None:
        """Record changes made since an error, and mark it fixed when the same call succeeds."""
        about = shell_commands.get_command_key(action.subject) if action.kind == "run" else action.subject
        for error in self.state["errors"]:
            if not error["open"]:
                continue
            if error["about"] == about:
                error["open"] = False
                error["fix"] = ", ".join(error["since"]) or "retried"
            elif action.changes and len(error["since"]) < 4:
                error["since"] = list(
                    dict.fromkeys([*error["since"], f"changed {action.changes[0].rpartition('/')[2]}"])
                )

    def _handle_compaction(self, event: Event) -> None:
        self.state["compactions"] += event.name != "summary"

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


def _count_files(files: dict[str, int], paths: tuple[str, ...]) -> None:
    for path in paths:
        if path in files or len(files) < _FILES:
            files[path] = files.get(path, 0) + 1


def _build_empty_state() -> dict[str, Any]:
    return {
        "goal": "", "prompt": "", "said": "", "ended": "", "last": "", "turn": 0, "acts": 0, "from": None, "until": 0,
        "active": 0, "read": {}, "changed": {}, "tools": {}, "todo": [], "waiting": {}, "commands": 0, "failed": 0,
        "notable": [], "errors": [], "tests": {"runs": 0, "failed": 0, "last": None}, "last_build": None,
        "commits": [], "dropped": 0, "objected": None, "requests": [], "reverted": 0, "pushed": 0, "corrections": 0,
        "objections": [], "interrupts": 0, "denials": 0, "compactions": 0, "api_errors": 0, "verdicts": {},
    }  # fmt: skip
