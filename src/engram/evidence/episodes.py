"""Cut a session into episodes: a request, what was decided about it, what was done and what came of it. No I/O.

The fold can be interrupted and continued: its state is JSON of bounded size. Only the last episode still changes, but
for results that arrive late; closed ones beyond a limit are only in the store.
"""

from __future__ import annotations

import re
from typing import Any

from engram.evidence import (
    asking_tools,
    causes,
    decisions,
    open_items,
    purposes,
    recaps,
    replies,
    reports,
    requests,
    review_findings,
    same_work,
    superseded_decisions,
    task_list,
    titles,
)
from engram.evidence.actions import CallAction
from engram.evidence.content_words import measure_overlap
from engram.evidence.decision_kinds import ACCEPTED, ANSWER, CORRECTION, RECAP, REJECTED, RULE, FoundDecision
from engram.platform.text import to_one_line
from engram.types import Event

_KEPT = 12  # closed episodes kept in the state
_ITEMS = 14  # decisions of an episode
_FILES = 24
_SPOKEN = 6_000  # characters of the agent's last message that are kept
_REPORT = 500
_CAUSES = 6
_FINDINGS = 16
_COMPLAINS = re.compile(
    r"^(?:(?:no|hm+|but|ok(?:ay)?|sorry|well|so)[,.]? )*(?:still\b|(?:it|that|this)(?:'s| is)? (?:still|not|"
    r"doesn'?t|didn'?t|does not|did not|broken|wrong|"
    r"fails?|failed)|(?:doesn'?t|didn'?t|does not|did not) work|not working|same (?:error|problem|issue)|"
    r"i (?:still|now) (?:get|see|have)|"
    r"(?:seems? like|looks like) .{1,40} (?:broken|wrong|fails?|not working))",
    re.IGNORECASE,
)
_UNDER_WAY = re.compile(
    r"\b(?:is|are|still) running\b|in the background|i'll (?:report|check back|wait)|waiting for (?:it|"
    r"the (?:agent|subagent|worker|run))|"
    r"\b(?:launched|dispatched|started) (?:the |a |an )?(?:\w+ ){0,3}(?:agent|subagent|worker)\b",
    re.IGNORECASE,
)
TEMPORARY = re.compile(
    r"(?:^|[/\\])(?:tmp|temp|scratchpad|plans)[/\\]", re.IGNORECASE
)  # files that are no part of the work
_COVERED = 0.7  # share of a decision's words that a restatement has which makes it superfluous
_SAME_PLAN = 0.7  # share of the words of a plan that was turned down which the accepted one has

FIXED, DONE, PARTLY, NOT_DONE, ABANDONED = "fixed", "done", "partly", "not done", "abandoned"
_ASKS_FOR_FIX = ("fix", "bug", "error", "fail", "broken", "crash", "issue", "wrong", "regression", "not working")


def build_empty_state() -> dict[str, Any]:
    """Return the state of a session without events."""
    return {
        "episodes": [], "closed": 0, "agent": "", "agent_key": 0, "report": "", "pending": {}, "interrupted": False,
        "acted": False, "plan": "", "outward": [], "tasks": {}, "findings": [], "command": "",
    }  # fmt: skip


class EpisodeFold:
    """The episodes of a session so far."""

    def __init__(self, state: dict[str, Any]) -> None:
        self.state = state
        for name, empty in build_empty_state().items():
            state.setdefault(name, empty)  # older rules kept less
        self.dirty: set[int] = set()  # numbers of the episodes changed since the last save
        self.dropped: list[dict[str, Any]] = []  # episodes no longer in the state, to be saved

    @property
    def current(self) -> dict[str, Any] | None:
        """The episode that is going on."""
        episodes: list[dict[str, Any]] = self.state["episodes"]
        return episodes[-1] if episodes else None

    @property
    def number(self) -> int:
        """The number of the current episode; -1 before the first."""
        return int(self.current["number"]) if self.current else -1

    # ---- What a person says

    def add_request(self, text: str, event: Event, key: int) -> bool:
        """Add a person's message; return whether it corrects the agent."""
        message = requests.clean_request(text)
        if not message:
            return False
        self.state["findings"] = [] if review_findings.takes_up_all(message) else self.state["findings"]
        episode, before = self.current, self.state["agent"]
        interrupted, self.state["interrupted"] = self.state["interrupted"], False
        if episode is None or not episode["request"]:
            self._begin(message, event, key)
            return False
        found = decisions.read_reply(message, before, interrupted=interrupted, acted=self.state["acted"])
        is_correction = any(decision.kind == CORRECTION for decision in found)
        if is_correction:
            episode["recap"] = None  # what the agent said last did not stand
        elif found and episode["recap"] and not recaps.lets_stand(message, episode["recap"]["text"]):
            episode["recap"] = None  # an explanation that the person answered is no restatement
        is_reply = bool(found) and found[0].kind != RULE
        if _COMPLAINS.match(message):
            episode["failed"] = True  # the person says that what was done does not work
        goes_on = is_reply or replies.is_bare_approval(message)
        if not goes_on and episode["acts"] and requests.is_substantial(message):
            self._begin(message, event, key)
            return False
        self._add_decisions(found, key, before=before)
        episode["postponed"] = [*episode.get("postponed", ()), *open_items.find_postponed(message)][-4:]
        if requests.is_substantial(message) and len(episode["more"]) < 6:
            episode["more"].append(to_one_line(message, 160))
        self._touch(episode, event, last="user")
        self.state.update(agent="", agent_key=0, acted=False)
        return is_correction

    def add_command(self, name: str) -> None:
        """Note the command that work begins with which has no request of its own."""
        self.state["command"] = name

    def add_interrupt(self, event: Event) -> None:
        """Note that the person stopped the agent."""
        self.state["interrupted"] = True
        if self.current:
            self._touch(self.current, event, last="interrupt")

    def _begin(self, message: str, event: Event, key: int) -> None:
        episodes = self.state["episodes"]
        if not requests.is_substantial(message):
            if not episodes:
                return
            message = message or episodes[-1]["request"]
        self._close()
        if review_findings.takes_up_all(message):
            self.state["findings"] = []
        number = self.state["closed"] + len(episodes)
        episode = {
            "number": number, "title": requests.find_title(message), "request": requests.find_goal(message, 400),
            "keys": [key], "from": event.at, "until": event.at, "more": [], "decisions": [], "rejected": [],
            "recap": None, "read": [], "changed": [], "tests": None, "build": None, "commits": [], "acts": 0,
            "causes": [], "report": "", "open": [], "todo": [], "denied": [], "last": "user", "reverted": 0,
            "failed": False, "unpushed": "", "not_pushed": "",
            "postponed": open_items.find_postponed(message),
        }  # fmt: skip
        episodes.append(episode)
        if len(episodes) > _KEPT:
            self.dropped.append(episodes.pop(0))
            self.state["closed"] += 1
        if titles.is_vague(message) and self.state["agent"]:  # `do both` is about what the agent proposed
            found = review_findings.find_review_findings(self.state["agent"])
            proposed = "; ".join(item.removeprefix(review_findings.FOUND) for item in found[:3])
            proposed = proposed or reports.find_proposal(self.state["agent"], ordered=True)
            episode["proposed"] = to_one_line(proposed, 160)
        plan = requests.find_plan(message)
        self.state["outward"] = open_items.find_outward_steps(plan)[:2] if plan else self.state["outward"]
        self.state.update(agent="", agent_key=0, report="", acted=False)
        self._add_decisions(decisions.read_request(message), key)
        self.dirty.add(number)

    def _close(self) -> None:
        """Fix what the current episode left open, before the next one begins."""
        episode = self.current
        if episode is not None:
            episode.update(self.describe_end(episode, is_last=False))
            found = [item for item in episode["open"] if item.startswith(review_findings.FOUND)]
            self.state["findings"] = [*self.state["findings"], *found][-_FINDINGS:]
            self.dirty.add(episode["number"])

    def _take_up_findings(self, text: str) -> None:
        """Strike off the findings of an earlier review that a later message or edit is about."""
        findings = self.state["findings"]
        self.state["findings"] = [item for item in findings if not review_findings.is_taken_up(item, text)]

    def describe_end(self, episode: dict[str, Any], *, is_last: bool) -> dict[str, Any]:
        """Return what the agent reported last in the current episode, and what is open."""
        report = self.state["report"]
        return {
            "heading": titles.find_subject_heading(report) or episode.get("heading", ""),
            "report": to_one_line(reports.drop_tables(report), _REPORT) if report else episode["report"],
            "open": open_items.list_episode_items(
                episode, report, is_last=is_last, plan=self.state["plan"], outward=self.state["outward"]
            ),
        }

    def _add_decisions(self, found: list[FoundDecision], key: int, before: str = "") -> None:
        episode = self.current
        if episode is None:
            return
        keys = [key, self.state["agent_key"]] if before and self.state["agent_key"] else [key]
        for decision in found:
            item = {"kind": decision.kind, "text": decision.text, "about": decision.about, "keys": keys}
            target = episode["rejected" if decision.kind == REJECTED else "decisions"]
            if decision.kind != REJECTED:
                superseded_decisions.mark_replaced(self.state["episodes"], item)
            target.append(item)
            del target[:-_ITEMS]
        self.dirty.update(episode["number"] for episode in self.state["episodes"])

    # ---- What the agent says and does

    def add_agent_message(self, text: str, event: Event, key: int) -> list[str]:
        """Add a message of the agent; return the causes it names."""
        episode = self.current
        found = causes.find_causes(text, asks_for_fix=episode is not None and _asks_for_fix(episode))
        if episode is None:
            return found
        if not self.state["acted"]:
            self._note_recap(episode, text, key)
        for cause in found:
            item = {"text": cause, "keys": [key], "changes": len(episode["changed"])}
            episode["causes"] = [*causes.drop_repeated(episode["causes"], cause), item][-_CAUSES:]
        for item in superseded_decisions.mark_reported(self.state["episodes"], text, key):
            episode["decisions"] = [*episode["decisions"], item][-_ITEMS:]
            self.dirty.update(older["number"] for older in self.state["episodes"])
        self.state.update(agent=text[-_SPOKEN:], agent_key=key, report=text[-_SPOKEN:])
        open_items.note_push_state(episode, text)
        if self.state["findings"]:
            self._take_up_findings(text)
        self._touch(episode, event, last="assistant")
        return found

    def _note_recap(self, episode: dict[str, Any], text: str, key: int) -> None:
        """Keep the agent's restatement of what the person just decided, while the person lets it stand."""
        decided = [item["text"] for item in episode["decisions"]]
        recap = recaps.find_recap(text, decided, needs_label=bool(episode["acts"]))
        held = episode["recap"]
        if recap and not (held and measure_overlap(held["text"], recap) < 0.2 and len(held["text"]) > 2 * len(recap)):
            episode["recap"] = {"kind": RECAP, "text": recap, "about": "", "keys": [key]}

    def add_call(self, action: CallAction, event: Event, key: int) -> None:
        """Add a call of the agent."""
        episode = self.current
        if episode is None:
            self._begin_unasked(event, key)
            episode = self.current
        if episode is None:
            return
        episode["acts"] += 1
        self.state["acted"] = True
        if action.todo:
            episode["todo"] = [[to_one_line(text, 120), finished] for text, finished in action.todo[:30]]
        elif task_list.update_tasks(self.state["tasks"], event.name, event.arguments):
            episode["todo"] = [task[:2] for task in self.state["tasks"].values()]
        suggested = task_list.read_suggested_task(event.name, event.arguments)
        if suggested:
            episode["suggested"] = [*episode.get("suggested", ()), f"Suggested task: {suggested}"][-4:]
        if self.state["outward"] and open_items.acts_outward(event.name, action.subject):
            self.state["outward"] = []
        if task_list.dismisses_task(event.name):
            episode["suggested"] = []
        self.state["plan"] = asking_tools.find_written_plan(event.name, event.arguments) or self.state["plan"]
        if asking_tools.is_question_tool(event.name) or asking_tools.is_plan_tool(event.name):
            self.state["pending"] = {
                "call": event.call_id, "name": event.name, "arguments": _shrink(event.arguments), "key": key,
            }  # fmt: skip
        self._touch(episode, event, last="call")

    def _begin_unasked(self, event: Event, key: int) -> None:
        """Begin an episode for work whose request is not in the transcript."""
        self._begin(titles.UNKNOWN, event, key)
        if self.current:
            self.current.update(request="", title=self.state["command"] or titles.UNKNOWN)

    def add_result(self, action: CallAction, event: Event, key: int, failed: bool) -> None:
        """Add the result of a call."""
        episode = self.current
        if episode is None:
            return
        pending = self.state["pending"]
        if pending and pending["call"] == event.call_id:
            self.state["pending"] = {}
            self._add_answer(pending, event, key)
        elif event.verdict == "denied":
            self._add_denial(action, event, key)
        elif not failed:
            _add_paths(episode["read"], action.reads)
            _add_paths(episode["changed"], action.changes)
            if self.state["findings"] and action.lines:
                self._take_up_findings(action.lines)
            if any(not TEMPORARY.search(path) for path in action.changes):
                self.state["plan"] = ""  # it is being carried out
        self._touch(episode, event, last="result")

    def _add_answer(self, pending: dict[str, Any], event: Event, key: int) -> None:
        """Add what a person answered to a question or a plan."""
        reason = decisions.find_denial_reason(event.text)
        refused = event.verdict in ("denied", "interrupted", "error")
        if asking_tools.is_plan_tool(pending["name"]):
            plan = asking_tools.read_plan(str((pending["arguments"] or {}).get("plan") or ""))
            if refused and (reason or event.verdict == "denied"):
                self._add_decisions([FoundDecision(kind=REJECTED, text=plan, about=reason[:160])] if plan else [], key)
                self._add_decisions(decisions.read_refusal(reason, to_one_line(plan, 80)), key)
            elif not refused and plan:
                self._drop_rejected(plan)
                self._add_decisions([FoundDecision(kind=ACCEPTED, text=plan)], key)
        elif not refused:
            self._add_decisions(asking_tools.read_tool_answers(pending["arguments"], event.text), key)
        elif reason:
            self._add_decisions([FoundDecision(kind=ANSWER, text=to_one_line(reason, 420))], key)

    def _drop_rejected(self, plan: str) -> None:
        """Forget that an earlier version of a plan was turned down: it was changed and then accepted."""
        title = plan.partition(":")[0]
        for episode in self.state["episodes"]:
            kept = [
                item
                for item in episode["rejected"]
                if measure_overlap(title, item["text"].partition(":")[0]) < _SAME_PLAN
            ]
            if len(kept) < len(episode["rejected"]):
                episode["rejected"] = kept
                self.dirty.add(episode["number"])

    def _add_denial(self, action: CallAction, event: Event, key: int) -> None:
        """Add a call that the person refused, with the reason."""
        episode = self.current
        assert episode is not None
        reason = decisions.find_denial_reason(event.text)
        what = to_one_line(f"{_VERBS.get(action.kind, 'use')} {action.subject}", 200)
        episode["denied"] = [*episode["denied"], what][-6:]
        check = same_work.find_check(action.subject)
        if check and check[0] == purposes.TEST:
            episode["not_run"] = f"Not run: `{to_one_line(action.subject, 120)}`, which was denied"
        self._add_decisions(decisions.read_refusal(reason, what), key)

    def add_changed(self, paths: tuple[str, ...]) -> None:
        """Add files that were changed, by a subagent or by what the agent ran."""
        if self.current and paths:
            _add_paths(self.current["changed"], paths)

    # ---- What came of it

    def note_run(self, purpose: str, passed: bool | None) -> None:
        """Note whether tests or a build passed; after a run whose result is hidden, an earlier failure says nothing."""
        episode, check = self.current, "tests" if purpose == purposes.TEST else "build"
        if episode is None:
            return
        if passed is None:
            episode[check] = episode[check] or None
            return
        episode[check] = passed
        episode["not_run"] = ""
        episode["causes"] = [
            dict(cause, borne=cause.get("borne") or (passed and len(episode["changed"]) > 0))
            for cause in episode["causes"]
        ]

    def note_commit(self, subject: str, branch: str = "") -> None:
        """Note a commit."""
        if self.current:
            self.current["commits"] = [*self.current["commits"], subject][-12:]
            self.current["unpushed"] = open_items.describe_commit(subject, branch)

    def note_push(self) -> None:
        """Note that commits were pushed."""
        for episode in self.state["episodes"]:
            episode["unpushed"] = episode["not_pushed"] = ""

    def note_revert(self) -> None:
        """Note that work was discarded."""
        if self.current:
            self.current["reverted"] += 1

    def _touch(self, episode: dict[str, Any], event: Event, last: str) -> None:
        episode["last"] = last
        episode["until"] = max(event.at or 0, episode["until"] or 0) or None
        self.dirty.add(episode["number"])


_VERBS = {"run": "run", "edit": "edit", "read": "read"}


def _shrink(arguments: Any) -> Any:
    """Return the arguments of a question or a plan without anything long but the plan."""
    if not isinstance(arguments, dict):
        return {}
    return {name: field[:6_000] if isinstance(field, str) else field for name, field in arguments.items()}


def _add_paths(paths: list[str], new: tuple[str, ...]) -> None:
    for path in new:
        if any(known.endswith(f"/{path}") for known in paths):
            continue
        if path not in paths and not TEMPORARY.search(path) and len(paths) < _FILES:
            paths.append(path)


def list_decisions(episode: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the decisions of an episode: the agent's restatement first, then what it does not hold."""
    recap = episode["recap"]
    if recap is None:
        return list(episode["decisions"])
    covered = [
        item
        for item in episode["decisions"]
        if measure_overlap(item["text"], recap["text"]) >= _COVERED and not (item.get("by") or item.get("replaces"))
    ]
    keys = [key for item in covered for key in item["keys"]]
    return [
        {**recap, "keys": [*recap["keys"], *keys][:8]},
        *(item for item in episode["decisions"] if item not in covered),
    ]


def list_all_open(state: dict[str, Any]) -> list[str]:
    """Return what a session left undone, newest first."""
    episodes = state["episodes"]
    current = EpisodeFold(state).describe_end(episodes[-1], is_last=True) if episodes else {}
    return open_items.list_session_items(episodes, current, state.get("findings", ()))


def judge_result(episode: dict[str, Any], is_last: bool) -> str:
    """Return what came of an episode: fixed, done, partly, not done or abandoned."""
    if is_last and episode["last"] in ("interrupt", "call", "result"):
        return PARTLY if episode["commits"] else ABANDONED
    if is_last and episode["last"] == "user" and not episode["acts"]:
        return NOT_DONE
    if episode["tests"] is False or (episode["tests"] is None and episode["build"] is False):
        return PARTLY if episode["changed"] else NOT_DONE
    if episode["failed"] or (episode["reverted"] and not episode["commits"]):
        return NOT_DONE
    if is_last and _UNDER_WAY.search(episode["report"][-300:]):
        return PARTLY
    if [text for text, finished in episode["todo"] if not finished]:
        return PARTLY
    return FIXED if episode["changed"] and _asks_for_fix(episode) else DONE


def _asks_for_fix(episode: dict[str, Any]) -> bool:
    """Return whether a request is about something that does not work."""
    asked = f"{episode['title']} {episode['request']}".lower()
    return any(word in asked for word in _ASKS_FOR_FIX)
