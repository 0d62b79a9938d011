"""The digest of a session: a fold over its events that can stop anywhere and go on later.

The state is plain JSON of bounded size, kept beside the facts, so that one more line of a long session costs one line.
"""

from __future__ import annotations

from typing import Any

from engram.digests import commands, voice
from engram.digests.acts import Act, act
from engram.digests.facts import facts
from engram.digests.outcome import judged
from engram.model import Event
from engram.text import one_line

VERSION = 1  # of the rules; a higher one makes older digests anew while their events are still here

_FILES = 120  # of each kind that are remembered
_ERRORS = 24
_COMMANDS = 24
_COMMITS = 12
_REQUESTS = 6
_WAITING = 40  # calls whose result has not come
_PAUSE = 5 * 60 * 1_000_000  # a longer silence is no work


class Fold:
    """The facts of a session so far."""

    def __init__(self, state: dict[str, Any] | None = None) -> None:
        self.state: dict[str, Any] = state or _empty()
        self.version = VERSION

    @property
    def goal(self) -> str:
        """Return what the user asked for first."""
        return str(self.state["goal"] or self.state["prompt"])

    def locate(self, cwd: str | None) -> None:
        """Say where the session works: its files are named from there."""
        self.state["cwd"] = cwd or self.state.get("cwd")

    def facts(self) -> dict[str, Any]:
        """Return what is worth keeping for good: at most 2 KB as JSON, and whatever was given."""
        outcome, confidence, evidence = judged(self.state)
        found = facts(self.state, self.goal, evidence) | {"outcome": outcome, "confidence": confidence}
        return found | self.given

    @property
    def given(self) -> dict[str, Any]:
        """Return what an imported digest says, which stands whatever is found here."""
        return dict(self.state.get("given") or {})

    def give(self, facts: dict[str, Any]) -> None:
        """Let what an imported digest says stand."""
        if facts:
            self.state["given"] = facts

    def outcome(self) -> tuple[str, float]:
        """Return how the session ended and how sure that is."""
        outcome, confidence, _ = judged(self.state)
        return outcome, confidence

    def feed(self, event: Event) -> None:
        """Take the next event in."""
        if event.at:
            self._time(event.at)
        if event.kind == "interrupt":
            self.state["interrupts"] += 1
            self.state["last"] = "interrupt"
        handle = _HANDLERS.get(event.kind)
        if handle is not None:
            handle(self, event)

    def _time(self, at: int) -> None:
        state = self.state
        if state["from"] is None:
            state["from"] = at
        elif 0 < at - state["until"] < _PAUSE:
            state["active"] += at - state["until"]
        state["until"] = max(at, state["until"] or at)

    def _message(self, event: Event) -> None:
        text = event.text.strip()
        if event.role == "user" and text and event.name != "command":
            self._asked(text)
        elif event.role == "assistant" and text:
            self.state["ended"], self.state["last"] = text[-600:], "assistant"
        elif event.name == "prompt" and not self.state["prompt"]:
            self.state["prompt"], self.state["last"] = text[:400], "user"
            self.state["turn"] += 1

    def _asked(self, text: str) -> None:
        state = self.state
        state["turn"] += 1
        if not state["goal"]:
            state["goal"] = text[:600]
        elif state["last"] in ("assistant", "interrupt", "result") and voice.corrects(text):
            state["corrections"] += 1
            state["objected"] = [len(state["commits"]) + state["dropped"], state["tests"]["runs"], state["pushed"]]
            state["objections"] = [*state["objections"], one_line(text, 140)][-5:]
        elif len(state["requests"]) < _REQUESTS:
            state["requests"].append(one_line(text, 90))
        state["said"], state["last"] = text[:400], "user"

    def _call(self, event: Event) -> None:
        state, done = self.state, act(event.name, event.arguments)
        state["acts"] += 1
        state["last"] = "call"
        tool = event.name or "call"
        state["tools"][tool] = state["tools"].get(tool, 0) + 1
        if len(state["tools"]) > 60:
            del state["tools"][tool]
        if done.todo:
            state["todo"] = [[one_line(text, 100), finished] for text, finished in done.todo[:30]]
        waiting = state["waiting"]
        if event.call_id:
            waiting[event.call_id] = [done.kind, done.subject[:2000], list(done.reads[:20]), list(done.changes[:20])]
            if len(waiting) > _WAITING:
                del waiting[next(iter(waiting))]

    def _result(self, event: Event) -> None:
        state = self.state
        found = state["waiting"].pop(event.call_id, None)
        kind, subject, reads, changes = found or ("other", "", [], [])
        done = Act(kind=kind, subject=subject, reads=tuple(reads), changes=tuple(changes))
        state["last"] = "result"
        if event.verdict in ("denied", "interrupted"):
            state["denials"] += event.verdict == "denied"
            return
        failed = event.verdict == "error" or bool(event.exit_code)
        if not failed:
            _remember(state["read"], done.reads)
            _remember(state["changed"], done.changes)
        if done.kind == "run":
            self._ran(done, event, failed)
        if failed:
            self._erred(done, event)
        else:
            self._mended(done)

    def _ran(self, done: Act, event: Event, failed: bool) -> None:
        state, purpose = self.state, commands.purpose(done.subject)
        state["commands"] += 1
        state["failed"] += failed
        if purpose == "test":
            self._tested(event, failed)
        elif purpose == "build":
            state["last_build"] = not failed
        elif purpose == "revert" and not failed:
            state["reverted"] += 1
        elif purpose == "push" and not failed:
            state["pushed"] += 1
        elif purpose == "commit" and not failed:
            state["commits"].append(one_line(commands.committed(done.subject, event.text), 120))
            if len(state["commits"]) > _COMMITS:
                del state["commits"][0]
                state["dropped"] += 1
        if purpose or failed:
            entry = [commands.short(done.subject), event.exit_code if event.exit_code is not None else int(failed)]
            state["notable"] = [*state["notable"], entry][-_COMMANDS:]

    def _tested(self, event: Event, failed: bool) -> None:
        tests = self.state["tests"]
        tests["runs"] += 1
        passed = commands.tests_passed(event.text[-6000:], event.exit_code, failed)
        tests["last"] = passed if passed is not None else tests["last"]
        tests["failed"] += passed is False

    def _erred(self, done: Act, event: Event) -> None:
        state, line = self.state, commands.error_line(event.text)
        if not line:
            return
        known = commands.signature(line)
        about = commands.same(done.subject) if done.kind == "run" else done.subject
        for each in state["errors"]:
            if each["known"] == known:
                each.update(times=each["times"] + 1, open=True, turn=state["turn"], about=about, since=[])
                return
        state["errors"].append({
            "known": known, "line": one_line(line, 160), "about": about, "times": 1, "open": True, "fix": "",
            "turn": state["turn"], "since": [],
        })  # fmt: skip
        if len(state["errors"]) > _ERRORS:
            state["errors"].pop(next((n for n, e in enumerate(state["errors"]) if not e["open"]), 0))

    def _mended(self, done: Act) -> None:
        """Note what was done since an error, and that it is gone when the same thing succeeds."""
        about = commands.same(done.subject) if done.kind == "run" else done.subject
        for each in self.state["errors"]:
            if not each["open"]:
                continue
            if each["about"] == about:
                each["open"] = False
                each["fix"] = ", ".join(each["since"]) or "done again"
            elif done.changes and len(each["since"]) < 4:
                each["since"] = list(dict.fromkeys([*each["since"], f"changed {done.changes[0].rpartition('/')[2]}"]))

    def _compaction(self, event: Event) -> None:
        self.state["compactions"] += event.name != "summary"

    def _lifecycle(self, event: Event) -> None:
        name = event.name or ""
        if name == "api_error" or (event.verdict == "error" and "error" in name):
            self.state["api_errors"] += 1
            self.state["last"] = "api_error"
        elif event.verdict in ("ok", "error") and name.startswith(("turn", "task", "session", "goal")):
            verdicts = self.state["verdicts"]
            verdicts[event.verdict] = verdicts.get(event.verdict, 0) + 1


_HANDLERS = {
    "message": Fold._message, "call": Fold._call, "result": Fold._result,
    "compaction": Fold._compaction, "lifecycle": Fold._lifecycle,
}  # fmt: skip


def _remember(files: dict[str, int], paths: tuple[str, ...]) -> None:
    for path in paths:
        if path in files or len(files) < _FILES:
            files[path] = files.get(path, 0) + 1


def _empty() -> dict[str, Any]:
    return {
        "goal": "", "prompt": "", "said": "", "ended": "", "last": "", "turn": 0, "acts": 0, "from": None, "until": 0,
        "active": 0, "read": {}, "changed": {}, "tools": {}, "todo": [], "waiting": {}, "commands": 0, "failed": 0,
        "notable": [], "errors": [], "tests": {"runs": 0, "failed": 0, "last": None}, "last_build": None,
        "commits": [], "dropped": 0, "objected": None, "requests": [], "reverted": 0, "pushed": 0, "corrections": 0,
        "objections": [], "interrupts": 0, "denials": 0, "compactions": 0, "api_errors": 0, "verdicts": {},
    }  # fmt: skip
