"""Find what a person asked for in what they typed: without wrappers, pasted logs and boilerplate. Pure."""

from __future__ import annotations

import re

from engram.evidence import error_lines
from engram.evidence.content_words import extract_content_words
from engram.platform.sentences import split_sentences
from engram.platform.text import to_one_line

TITLE = 80  # characters of a title
_TITLE_WORDS = 3  # words with a meaning of their own: `Fix both` names nothing
_LIST_MARKER = re.compile(r"^(?:[-*•]|\d{1,2}[.)])\s+")
_READ = 20_000  # characters of a message that are looked at

_WRAPPED = re.compile(  # what programs put around or into a person's message
    r"<(system-reminder|ide_\w+|local-command-\w+|command-message|command-name|command-contents|task-notification|"
    r"teammate-message|user-prompt-submit-hook|environment_context|environment_details|user_instructions|instructions|"
    r"skill|post-tool-use\S*|bash-\w+|permissions\S*|collaboration_mode|turn_aborted|recommended_\w+|attached_files?|"
    r"file_content|additional_data|manually_attached_skills|cursor_commands|timestamp|open_and_recently_viewed_files)"
    r"\b[^>]*>.*?(?:</\1>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_COMMAND_NAME = re.compile(r"<command-name>\s*/?(.*?)\s*</command-name>", re.DOTALL)
_COMMAND_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_CONTROL_COMMAND = re.compile(
    r"^(?:clear|compact|model|login|logout|status|doctor|mcp|exit|quit|help|config|cost|resume|memory|permissions|"
    r"hooks|agents|plugin|plugins|"
    r"ide|terminal-setup|theme|usage|context|rewind|fast|effort|vim|bug|feedback|release-notes|export|stats|"
    r"reload-plugins)$",
    re.IGNORECASE,
)
_ASKING_COMMAND = re.compile(r"^/(?:ask|code|architect|context)\s+(?=\S)", re.IGNORECASE)
_TYPED_COMMAND = re.compile(  # controls the agent program, as typed
    r"^/(?:[a-z-]+\s*$|(?:add|drop|read|read-only|run|test|lint|git|web|model|chat-mode|chat|clear|undo|diff|tokens|map|"
    r"ls|load|save|paste|copy|voice|set|settings|commit|help)\b)[^\n]*",
    re.IGNORECASE,
)
_SUMMARIZED = re.compile(
    r"(?:Primary Request(?: and Intent)?|Initial (?:User )?Request[^:\n]{0,40}|User'?s? (?:Primary )?(?:Request|"
    r"Goal|Intent)[^:\n]{0,20})\W*:\W*\s*([^\n]{20,})",
    re.IGNORECASE,
)
_SUMMARY_SECTION = re.compile(
    r"^\W*(?:\d+[.)]\W*)?Primary Request(?: and Intent)?\W*$\n((?:(?!\s*(?:#|\*\*)?\d+[.)]\s+\**Key ).*\n?){1,14})",
    re.MULTILINE,
)
_IN_HAND = re.compile(
    r"(?:and |is )?(?:currently|now|most recent(?:ly)?|latest|the (?:current|latest|most recent))\b", re.IGNORECASE
)
_KEPT_TAG = re.compile(r"</?(?:command-args|user_query|task|feedback|user_message|answer)\b[^>]*>", re.IGNORECASE)
_IDE_CONTEXT = re.compile(r"^# Context from my IDE setup:.*?^## My request for \w+:\s*", re.DOTALL | re.MULTILINE)
_FIELD_MARK = re.compile(r"\[\[ ## \w+ ## \]\]\s*")  # names a field of a prompt that a program made
_FENCE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_PLACEHOLDER = re.compile(r"\[(?:Image|Pasted text)[^\]\n]{0,60}\]|\[image\]", re.IGNORECASE)
_PLAN = re.compile(
    r"^\s*(?:please\s+|let'?s\s+|now\s+)?(?:implement|execute|carry out|follow|do)\s+(?:the|this|my|"
    r"our)\s+(?:following\s+)?"
    r"(?:implementation\s+)?plan\b[^\n]{0,40}?[:.]?\s*(?:\n|$)",
    re.IGNORECASE,
)
_HEADING = re.compile(r"^\s{0,3}#{1,4}\s+(.+?)\s*#*\s*$", re.MULTILINE)
_HEADING_LABEL = re.compile(
    r"^(?:implementation\s+)?(?:plan|task|goal|feature|bug|fix)\s*[:\u2014\u2013-]\s*", re.IGNORECASE
)
_GENERAL_HEADING = re.compile(
    r"^(?:(?:implementation|refactoring|the|current|final|updated|execution)\s+)*(?:plan|summary|overview|context|"
    r"task|goal|"
    r"problem|background|steps?|changes|todo|approach|prerequisites?|instructions?)\W*$",
    re.IGNORECASE,
)
_PURPOSE_SECTION = re.compile(
    r"^\s{0,3}#{1,4}\s+(?:context|problem|goal|summary|overview|background|motivation|objective|"
    r"why)\b[^\n]*\n+(.+?)(?=\n\s*#|\Z)",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_LOG_LINE = re.compile(
    r"^\s*(?:\d{4}-\d\d-\d\d[T ]\d\d:|\[?\d\d:\d\d:\d\d|at \S+ ?\(|File \"|Traceback|[+\-@]{2,3} |\$ |>>> |➜ |❯ |\| |"
    r"[│┃┌└├─╭╰•·✓✗✘⚠]|\w+(?:\.\w+)+(?:Error|Exception)\b|(?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL)\b|npm (?:ERR|"
    r"error|warn)|"
    r"(?:error|fatal|warning): |remote: |Base directory for this skill)"
)
_GREETING = re.compile(
    r"^(?:hi|hey|hello|good (?:morning|evening)|thanks|thank you|please|ok(?:ay)?|so|alright|right|great|now|well|"
    r"and|also|"
    r"(?:hi|hey|hello) there)\b[\s,.!:-]*|^(?:hi|hey|hello) \w+[,!]\s*",
    re.IGNORECASE,
)
_EMPTY = re.compile(
    r"^(?:continue(?: from where you left off| please)?|go on|go ahead|proceed|resume|try again|retry|start|begin|"
    r"keep going|carry on|next|yes|no|ok(?:ay)?|y|n|hi|hello|hey|test|ping|help|help me|warmup|read (?:this|the) file|"
    r"can you help(?: me)?(?: with this)?|see (?:above|below)|fix (?:it|this)|do it|please|thanks?|"
    r"thank you)[\s.!?,]*$",
    re.IGNORECASE,
)
_ISSUE_LINK = re.compile(
    r"https?://[\w.-]+/([\w.-]+/)([\w.-]+)/(?:-/)?(?:issues|pull|pulls|merge_requests|discussions)/(\d+)\S*"
)
_PASTED_COMMAND = re.compile(r"^(?:➜|❯|\$|%)\s+(?:\S+ git:\S+ (?:✗ )?)?(\S.{3,120})\n")  # a terminal, not a request
_OWN_WORDS = 300  # characters of the paragraph below a pasted log that are a person's own
_LINK = re.compile(r"https?://\S+")
_WORD = re.compile(r"[^\W\d_]{2,}")


def clean_request(text: str) -> str:
    """Return what a person typed, without what programs added to it and without images."""
    text = text[:_READ]
    if "[[ ## " in text:
        text = _FIELD_MARK.sub("", text)
    if "# Context from my IDE" in text:
        text = _IDE_CONTEXT.sub("", text)
    if "<" in text:
        text = _unwrap_command(text)
        text = _KEPT_TAG.sub("", _WRAPPED.sub("", text))
    if text.startswith("/"):
        text = _TYPED_COMMAND.sub("", _ASKING_COMMAND.sub("", text))
    return _PLACEHOLDER.sub("", text).strip() if "[" in text else text.strip()


def _unwrap_command(text: str) -> str:
    """Replace the wrapper of a slash command by its name and arguments, if it has arguments."""
    name, arguments = _COMMAND_NAME.search(text), _COMMAND_ARGUMENTS.search(text)
    if not name:
        return text
    given = arguments[1].strip() if arguments else ""
    rest = _COMMAND_ARGUMENTS.sub("", _COMMAND_NAME.sub("", text))
    return f"{name[1].strip()}: {given}\n{rest}" if given else rest


def find_command(text: str) -> str:
    """Return the slash command in a message, unless it only controls the agent program."""
    name = _COMMAND_NAME.search(text)
    return f"/{name[1]}" if name and name[1] and not _CONTROL_COMMAND.match(name[1]) else ""


def find_summarized_request(text: str) -> str:
    """Return the request that the summary of a compacted conversation states: what was in hand, then how it began."""
    section = _SUMMARY_SECTION.search(text, max(text.rfind("\nSummary:"), 0))
    points = [_strip_marks(_LIST_MARKER.sub("", line.strip())) for line in section[1].splitlines()] if section else []
    points = [point for point in points if len(_WORD.findall(point)) >= _TITLE_WORDS]
    current = [point for point in points if _IN_HAND.match(point)]
    if points:
        return to_one_line(". ".join(dict.fromkeys((*current[-1:], points[0]))), 400)
    match = _SUMMARIZED.search(text)
    return to_one_line(_strip_marks(match[1]), 400) if match else ""


def is_substantial(text: str) -> bool:
    """Return whether a cleaned message asks for something by itself, unlike `continue`."""
    bare = _FENCE.sub("", text).strip()
    return bool(bare) and not _EMPTY.match(bare) and (len(_WORD.findall(bare)) >= 2 or bool(_LINK.search(bare)))


def find_goal(text: str, length: int) -> str:
    """Return what a cleaned message asks for, on one line: for a plan its heading and purpose."""
    plan = _split_plan(text)
    if plan:
        heading, purpose = plan
        return to_one_line(f"{heading}. {purpose}" if heading and purpose else heading or purpose, length)
    prose = " ".join(_list_prose(text))
    pasted = _PASTED_COMMAND.match(text)
    if pasted:
        return to_one_line(_describe_pasted(text, pasted[1].strip()), length)
    return to_one_line(_shorten_links(prose or text), length)


def _describe_pasted(text: str, command: str) -> str:
    """Return what a person wrote below what they pasted from a terminal, with the command and its error."""
    last = " ".join(_list_prose(text.rstrip().split("\n\n")[-1]))
    own = last if last and not _LOG_LINE.match(last) and len(last) < _OWN_WORDS else ""
    return ": ".join(filter(None, (own.rstrip(" .:"), command, error_lines.find_error_line(text))))


def find_title(text: str) -> str:
    """Return a title for a cleaned request: a plan's heading, else the first sentence that says something."""
    plan = _split_plan(text)
    if plan and plan[0]:
        return to_one_line(plan[0], TITLE)
    for line in _list_prose(text):
        for sentence in split_sentences(_shorten_links(line)):
            title = _strip_greeting(sentence)
            if is_substantial(title) and len(extract_content_words(title)) >= _TITLE_WORDS:
                return to_one_line(_capitalize(title), TITLE)
    return to_one_line(_shorten_links(" ".join(text.split())), TITLE)


def find_plan(text: str) -> str:
    """Return the plan that a message hands over, or ""."""
    lead = _PLAN.match(text)
    return text[lead.end() :].strip() if lead and len(text) - lead.end() > 80 else ""


def _split_plan(text: str) -> tuple[str, str] | None:
    """Return the heading and the purpose of a plan, or None if the text is none."""
    lead = _PLAN.match(text)
    if not lead and not text.startswith("#"):
        return None
    body = text[lead.end() :] if lead else text
    headings = [_HEADING_LABEL.sub("", heading).strip() for heading in _HEADING.findall(_FENCE.sub("", body))[:8]]
    heading = next((name for name in headings if name and not _GENERAL_HEADING.match(name)), "")
    section = _PURPOSE_SECTION.search(body)
    prose = _list_prose(section[1] if section else body)
    purpose = next((line for line in prose if len(_WORD.findall(line)) >= 5), "")
    return (_strip_marks(heading), purpose) if heading or purpose else None


def _list_prose(text: str) -> list[str]:
    """Return the lines a person wrote: no code, logs, headings or quoted text."""
    lines = []
    for line in _FENCE.sub("\n", text).splitlines():
        bare = line.strip()
        if not bare or _LOG_LINE.match(line) or bare.startswith((">", "|", "#")):
            continue
        letters = sum(map(str.isalpha, bare)) + bare.count(" ")
        if letters >= 0.55 * len(bare) or _LINK.search(bare) or ord(max(bare)) > 0x2E80:
            lines.append(_strip_marks(_LIST_MARKER.sub("", bare)))
    return lines


def _strip_marks(line: str) -> str:
    return line.replace("**", "").replace("__", "").strip("`* ")


def _strip_greeting(sentence: str) -> str:
    """Return a sentence without hi, please and so on at its start."""
    while match := _GREETING.match(sentence):
        if match.end() >= len(sentence):
            break
        sentence = sentence[match.end() :]
    return sentence


def _shorten_links(text: str) -> str:
    """Write links to issues as owner/name#number."""
    return _ISSUE_LINK.sub(lambda match: f"{match[1]}{match[2]}#{match[3]}", text) if "://" in text else text


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:] if text[:1].islower() and " " in text[:20] else text
