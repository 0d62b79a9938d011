"""Read the tools with which an agent asks a person: questions with their answers, and plans. Pure."""

from __future__ import annotations

import re
from typing import Any

from engram.evidence import lasting
from engram.evidence.decision_kinds import ANSWER, LONGEST, FoundDecision
from engram.evidence.reports import iter_statements
from engram.platform.text import to_one_line

_NAMED_PLAN = 200  # characters of a plan that is only named
_PLAN_READ = 4_000  # characters from the start of a plan
_QUESTION_TOOLS = frozenset(
    "askuserquestion request_user_input ask_user ask_followup_question question ask_question askquestion".split()
)
_PLAN_TOOLS = frozenset("exitplanmode exit_plan_mode plan_exit presentplan present_plan".split())
_PLAN_CHOICE = re.compile(
    r"\b(?:solution|approach|design|decisions?|fix|strategy|changes?|implementation|what to)\b", re.IGNORECASE
)
_PLAN_FILE = re.compile(r"[/\\]\.\w+[/\\]plans[/\\][^/\\]+\.md$")  # in the directory of an agent program
_ANSWERED = re.compile(r'"([^"\n]{3,500})"\s*[=:]\s*"([^"]{1,600})"')
_DECLINED = re.compile(
    r"doesn't want|declined|did not answer|wants? to clarify|cancell?ed|dismissed|timed out", re.IGNORECASE
)


def is_question_tool(name: str | None) -> bool:
    """Return whether a tool asks the person."""
    return (name or "").rpartition("__")[2].lower() in _QUESTION_TOOLS


def is_plan_tool(name: str | None) -> bool:
    """Return whether a tool presents a plan for approval."""
    return (name or "").rpartition("__")[2].lower() in _PLAN_TOOLS


def find_written_plan(name: str | None, arguments: Any) -> str:
    """Return what a plan is about that a call presents or writes to a file of plans, or ""."""
    fields = arguments if isinstance(arguments, dict) else {}
    if is_plan_tool(name):
        return to_one_line(read_plan(str(fields.get("plan") or "")), _NAMED_PLAN)
    path, text = fields.get("file_path"), fields.get("content")
    if not (isinstance(path, str) and isinstance(text, str) and _PLAN_FILE.search(path)):
        return ""
    name_of_file = re.split(r"[/\\]", path)[-1]
    return f"{to_one_line(read_plan(text), _NAMED_PLAN)} ({name_of_file})"


def read_tool_answers(arguments: Any, output: str) -> list[FoundDecision]:
    """Return the answers a person gave to an agent's question tool."""
    if _DECLINED.search(output[:200]) and not _ANSWERED.search(output):
        return []
    questions = _list_questions(arguments)
    pairs = _ANSWERED.findall(output)
    if not pairs and len(questions) == 1 and output.strip():
        answer = re.sub(
            r"^(?:user (?:has )?(?:answered|responded|selected)[^:]*|answer|<answer>)\s*:?\s*",
            "",
            output.strip(),
            flags=re.IGNORECASE,
        )
        pairs = [(next(iter(questions)), answer[:600])]
    return [
        FoundDecision(
            kind=ANSWER, text=_describe_answer(answer, questions.get(question, {})), about=to_one_line(question, 200)
        )
        for question, answer in pairs
        if answer.strip()
    ]


def _list_questions(arguments: Any) -> dict[str, dict[str, str]]:
    """Return the options of each question asked, with their descriptions."""
    fields = arguments if isinstance(arguments, dict) else {}
    asked = fields.get("questions")
    many = [item for item in asked if isinstance(item, dict)] if isinstance(asked, list) else [fields]
    questions = {}
    for item in many:
        text = str(item.get("question") or item.get("prompt") or item.get("text") or "")
        options = item.get("options") or item.get("choices") or []
        if text:
            questions[text] = {
                str(option.get("label")): str(option.get("description") or "")
                for option in (options if isinstance(options, list) else [])
                if isinstance(option, dict)
            }
    return questions


def _describe_answer(answer: str, options: dict[str, str]) -> str:
    details = options.get(answer, "")
    label = answer.replace("(Recommended)", "").strip()
    return to_one_line(f"{label}: {details}" if details else label, LONGEST)


def read_plan(plan: str) -> str:
    """Return what a plan is about: its heading and its first points, on one line."""
    headings = [line.strip("# ").strip() for line in plan.splitlines() if line.startswith("#")]
    title = (
        re.sub(r"^(?:plan|implementation plan)\s*[:\u2014-]\s*", "", headings[0], flags=re.IGNORECASE)
        if headings
        else ""
    )
    points = [
        (bool(_PLAN_CHOICE.search(heading)), line)
        for heading, line in iter_statements(plan[:_PLAN_READ])
        if len(line) < 300 and not line.endswith(":") and not line.startswith("No ") and not lasting.is_code(line)
    ]
    chosen = [line for is_choice, line in points if is_choice] or [line for _, line in points]
    gist = " ".join(chosen[:3])
    return to_one_line(f"{title}: {gist}" if title else gist, LONGEST)
