"""Complete the titles and goals that name no subject, like `commit and push`, by what the work was about. Pure."""

from __future__ import annotations

import re
from typing import Any

from engram.evidence.content_words import extract_content_words
from engram.platform.text import to_one_line

UNKNOWN = "(request not in the transcript)"

_TITLE = 80
_END = " .,:;!?()"
_SHORT = 2  # letters of a word that names no subject
_GENERAL_WORDS = extract_content_words(
    "fix commit push pull pr merge conflict test lint build ci failure failing fail error bug issue review comment"
    " branch main master origin parent upstream continue both all everything them change changes branch finish complete"
    " run check please resume again go ahead proceed done okay nitpick feedback address apply implement update code"
    " open draft create ready fine problem work first next step rest suggestion finding github request fixed checks"
    " oh yeah yep yup hmm thing stuff try tried let lets kindly"
)
_LEAST_WORDS = 3  # of a heading that is a subject
_COMMAND = re.compile(r"^/\S+$")
_HASH = re.compile(r"^[0-9a-f]{7,40} ")
_MERGE = re.compile(r"^Merge (?:remote-tracking )?branch ")
_HEADING = re.compile(r"^\s{0,3}(?:#{1,3}\s+|\*\*(?=[^*]+\*\*\s*$))(.+?)[\s#*:]*$", re.MULTILINE)
_HEADING_LABEL = re.compile(
    r"^(?:code review|review|pr review|summary|analysis|plan|report)\s*(?:of|for|:|\u2014|-)\s*", re.IGNORECASE
)
_GENERAL = re.compile(
    r"^(?:overview|summary|changes?|what|how|why|root cause|result|findings?|issues?|strengths?|conclusion|verdict|"
    r"recommend|next|test|files?|fix|the |here|step|option|key|current|status)\b",
    re.IGNORECASE,
)


def find_subject_heading(report: str) -> str:
    """Return the first heading of a report, if it says what the report is about."""
    heading = _HEADING.search(report[:1_200])
    if not heading:
        return ""
    text = _HEADING_LABEL.sub("", heading[1].replace("**", "").strip())
    is_subject = len(extract_content_words(text)) >= _LEAST_WORDS and not _GENERAL.match(text)
    return to_one_line(text, _TITLE) if is_subject else ""


def complete_title(episode: dict[str, Any]) -> str:
    """Return the title of an episode; a vague one with the proposal, commit, heading or files it was about."""
    title, subject = str(episode["title"]), find_subject(episode)
    if not subject or not (is_vague(title) or _COMMAND.match(title)):
        return title
    return to_one_line(subject if title == UNKNOWN else f"{title.rstrip(_END)}: {subject}", _TITLE)


def complete_goal(goal: str, episodes: list[dict[str, Any]], command: str) -> str:
    """Return the goal of a session; a vague one with what the first work was about, after the command it began with."""
    begins = str(episodes[0]["title"]) if episodes else ""
    if command and begins.startswith(command) and not goal.startswith(command):
        began = complete_title(episodes[0])
        if not goal or began != begins:  # a command that led to nothing that has a name is no goal
            return f"{began}; then {goal}" if goal else began
    if is_vague(goal):
        subject = next(filter(None, (find_subject(episode) for episode in episodes)), "")
        goal = f"{goal.rstrip(_END)}: {subject}" if goal and subject else goal or subject
    return goal or command


def is_vague(text: str) -> bool:
    """Return whether a request names no subject."""
    return text == UNKNOWN or not any(
        word.isalpha() and len(word) > _SHORT for word in extract_content_words(text) - _GENERAL_WORDS
    )


def find_subject(episode: dict[str, Any]) -> str:
    """Return what an episode was about, as the work itself tells."""
    commits = [_HASH.sub("", subject) for subject in episode["commits"]]
    named = next((subject for subject in commits if not _MERGE.match(subject)), next(iter(commits), ""))
    files = [re.split(r"[/\\]", path)[-1] for path in episode["changed"]]
    shown = [*files[:2], *([f"{len(files) - 2} more"] if len(files) > 2 else [])]
    return episode.get("proposed") or named or episode.get("heading") or ", ".join(shown)
