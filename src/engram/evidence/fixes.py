"""Say what ended an error, so that a developer who never saw the session understands it. Pure."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from engram.evidence import same_work
from engram.evidence.actions import CallAction
from engram.evidence.command_line import parse_command
from engram.platform.sentences import split_sentences
from engram.platform.text import to_one_line
from engram.platform.value import value

REPLACED, CHANGED, RETRIED, SETUP = "command replaced", "files changed", "retried", "setup"

_SHOWN = 160  # characters of a command that are shown
_FEW = 2  # changed files that need not touch what the error names
_LISTED = 4
_SETUP_WORDS = frozenset(
    "install sync add ci restore download generate migrate init tidy fetch pull rebase login build".split()
)
_SETUP_PROGRAMS = frozenset("mkdir chmod export source ln npm-install".split())
_WAY_ROUND = re.compile(
    r"\b(?:let me|let's|i'?ll|i(?:'m| am)|i will|going to|so)\b.{3,120}\b(?:instead|manually|directly|"
    r"(?:an)?other way|fall(?:ing)? ?back|workaround)\b|"
    r"\b(?:switch(?:ing)? to|use the fallback|work(?:ing)? around)\b|"
    r"\binstead of\b.{3,80}\b(?:i'll|i'm|let me|using)\b|"
    r"\b(?:writing|using|running|trying) .{3,100}\binstead\b",
    re.IGNORECASE,
)
_INLINE = re.compile(r"\s-(?:c|e|lc|Command)\s|<<-?\s*['\"]?\w")
_MISSING_FILE = re.compile(
    r"([\w./\\:~$-]+\.\w{1,6})['\"`]?:? (?:no such file|not found|does not exist|cannot find)", re.IGNORECASE
)
_ANNOUNCEMENT = 1_200  # characters from the end of a message
_WORDS = 5
_PROGRAMS = 4  # of a command line of which the last one says what it does
_KEYWORDS = frozenset("done do then fi for while if else elif esac case in function { }".split())  # of a shell
_NOT_STARTED = re.compile(r"^(?:Indentation|Syntax)Error: ")
_FORMATTER = re.compile(
    r"(?:^|\s)(?:--fix|--write|-w|--unsafe-fixes|fmt|format)(?:\s|$)|\b(?:black|isort)\b(?!.*--check)"
)
_FORMAT_ERROR = re.compile(
    r"\bformat(?:t\w+)?\b|gofmt|gofumpt|prettier|import(?:s| order)|would (?:have|reformat)|indent|I001", re.IGNORECASE
)
_FORMAT_CHECK = re.compile(r"\b(?:prettier|black|isort|fmt|format)\b.*--check|--check.*\bformat\b")


@value
class Fix:
    """What ended an error."""

    text: str
    kind: str  # command replaced, files changed, retried, setup
    passing: str  # the command that passed, if it is one
    is_sure: bool  # whether what changed touches what the error names, or is the only change


def describe_fix(trail: list[dict[str, Any]], error: dict[str, Any], action: CallAction) -> Fix:
    """Describe what ended an error: what was changed or run between it and the call that passed."""
    passing = to_one_line(action.subject, _SHOWN) if action.kind == "run" else ""
    since = [item for item in trail if item["step"] > error["step"]]
    if error["sort"] == "edit":
        return _describe_edit(since, action)
    if error["sort"] == "call":
        return _describe_call(error, action)
    command = to_one_line(action.subject, 400)
    is_same = same_work.is_same_command(command, error["command"])
    if error["sort"] == "command" and not is_same:
        script = find_written_script(trail, error, command)
        if script:
            return Fix(text=f"wrote {script} and ran it: `{to_one_line(command, _SHOWN)}`", kind=REPLACED,
                       passing=passing, is_sure=True)  # fmt: skip
        made = _find_making_run(since, error)
        if made:
            return Fix(text=f"ran `{made}`, then it passed", kind=SETUP, passing=passing, is_sure=True)
        if error.get("way"):
            return Fix(text=_describe_way(error["way"], command), kind=REPLACED, passing=passing, is_sure=True)
    if not is_same and (error["sort"] == "command" or _is_called_otherwise(since, error, command)):
        return Fix(text=_describe_command(command, error["command"]), kind=REPLACED, passing=passing, is_sure=True)
    return _describe_changes(since, error, passing, command)


def find_way_round(text: str) -> str:
    """Return the sentence in which an agent announces another way to do what has just failed, or ""."""
    for line in text[-_ANNOUNCEMENT:].splitlines():
        for sentence in split_sentences(line.strip(" *-")):
            if _WAY_ROUND.search(sentence) and len(sentence.split()) >= _WORDS:
                return to_one_line(sentence.rstrip(":").rstrip(".") + ".", _SHOWN)
    return ""


def find_written_script(trail: list[dict[str, Any]], error: dict[str, Any], command: str) -> str:
    """Return the file written since an error that a command runs, if a script on the command line failed before."""
    if not _INLINE.search(error["command"]):
        return ""
    programs = {run.words[0] for run in parse_command(error["command"])}
    if not any(run.words[0] in programs for run in parse_command(command)):
        return ""
    written = [
        path for item in trail if item["step"] > error["step"] and item["kind"] == "edit" for path in item["files"]
    ]
    return next((name for name in map(_get_file_name, written) if name in command), "")


def _find_making_run(since: list[dict[str, Any]], error: dict[str, Any]) -> str:
    """Return the command that made the file whose absence was the error, or ""."""
    missing = _MISSING_FILE.search(error["line"])
    name = _get_file_name(missing[1].rstrip("'\"`:")) if missing else ""
    if len(name) < len("a.py"):
        return ""
    runs = [item["command"] for item in since if item["kind"] == "run" and name in item["command"]]
    made = [command for command in runs if not same_work.is_looking_only(command)]
    return to_one_line(same_work.strip_command(made[-1]), _SHOWN) if made else ""


def _describe_way(way: str, command: str) -> str:
    """Return what an agent announced and the program it then ran; a whole script says nothing on one line."""
    runs = [run for run in parse_command(command) if not (same_work.is_looking(run) or run.words[0] in _KEYWORDS)]
    if len(command) <= _SHOWN:
        return f"{way} Ran `{to_one_line(command, _SHOWN)}`"
    if not runs or len(runs) > _PROGRAMS:
        return way
    shown = " ".join(to_one_line(word, 60) for word in runs[-1].words)
    return f"{way} Ran `{to_one_line(shown, _SHOWN)}`"


def _is_called_otherwise(since: list[dict[str, Any]], error: dict[str, Any], command: str) -> bool:
    """Return whether a check passed with or without a wrapper, and nothing was changed or installed before."""
    if _list_edits(since) or _find_setup(since):
        return False
    lines = [same_work.strip_command(line) for line in (error["command"], command)]
    failed, passed = (line.split() for line in lines)
    programs, others = ([run.words for run in parse_command(line)] for line in lines)
    is_wrapped = programs == others or set(failed) < set(passed) or set(passed) < set(failed)
    return failed[:1] != passed[:1] and is_wrapped


def _describe_call(error: dict[str, Any], action: CallAction) -> Fix:
    if error.get("way") and action.kind == "run":
        passing = to_one_line(action.subject, _SHOWN)
        return Fix(text=_describe_way(error["way"], action.subject), kind=REPLACED, passing=passing, is_sure=True)
    is_same = not action.detail or action.detail[:200] == error.get("detail")
    text = "passed when repeated" if is_same else f"called {action.subject} with {action.detail}"
    return Fix(text=text, kind=RETRIED, passing="", is_sure=False)


def _describe_edit(since: list[dict[str, Any]], action: CallAction) -> Fix:
    name = _get_file_name((*action.changes, action.subject)[0])
    is_read = any(item["kind"] == "read" and name in map(_get_file_name, item["files"]) for item in since)
    text = f"read {name} again, then edited it" if is_read else f"edited {name} with other text"
    if action.detail:
        text += f": {action.detail}"
    return Fix(text=to_one_line(text, 240), kind=RETRIED, passing="", is_sure=False)


def _describe_changes(since: list[dict[str, Any]], error: dict[str, Any], passing: str, command: str) -> Fix:
    """Describe what made a check or a command pass that failed before."""
    formatter = _find_formatter(since, error, command)
    if formatter:
        return Fix(text=f"ran `{formatter}`", kind=CHANGED, passing=passing, is_sure=True)
    touching, edits = list_touching(since, error), _list_edits(since)
    if _NOT_STARTED.match(error["line"]) and _INLINE.search(error["command"]):
        return Fix(
            text="passed when repeated", kind=RETRIED, passing=passing, is_sure=False
        )  # a slip of the script's own
    changed = list(dict.fromkeys(_get_file_name(path) for item in edits for path in item["files"]))
    if touching:
        return Fix(text=_join_edits(touching), kind=CHANGED, passing=passing, is_sure=True)
    setup = _find_setup(since) or _find_own_setup(command, error["command"])
    if setup and (error["sort"] == "command" or not edits):
        return Fix(text=f"ran `{setup}`, then it passed", kind=SETUP, passing=passing, is_sure=True)
    if error["sort"] == "command" and same_work.is_call_error(error["line"]):
        edits = []  # where or how it was called has nothing to do with files that it does not name
    if edits and len(changed) <= _FEW:
        return Fix(text=_join_edits(edits), kind=CHANGED, passing=passing, is_sure=False)
    if edits:
        more = f" and {len(changed) - _LISTED} more files" if len(changed) > _LISTED else ""
        return Fix(text=f"changed {', '.join(changed[-_LISTED:])}{more}", kind=CHANGED, passing=passing, is_sure=False)
    return Fix(text="passed when repeated", kind=RETRIED, passing=passing, is_sure=False)


def list_touching(trail: list[dict[str, Any]], error: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the edits after an error that touch a file or symbol it names.

    The file of the message itself counts most, then what else its output and command name.
    """
    edits = [item for item in _list_edits(trail) if item["step"] > error["step"]]
    for touches in (_touches_line, _touches_names):
        chosen = [item for item in edits if touches(item, error)]
        if chosen:
            symbols = [name for name in error["names"] if "." not in name]
            named = [item for item in chosen if any(_names(name, item["lines"]) for name in symbols)]
            return named or chosen
    return []


def list_responsible(trail: list[dict[str, Any]], error: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the edits that touch what an error names, else all if they are few."""
    edits = [item for item in _list_edits(trail) if item["step"] > error["step"]]
    few = len({path for item in edits for path in item["files"]}) <= _FEW
    return list_touching(trail, error) or (edits if few else [])


def _touches_line(item: dict[str, Any], error: dict[str, Any]) -> bool:
    return any(f"{_get_file_name(path)}:" in error["line"] for path in item["files"])


def _touches_names(item: dict[str, Any], error: dict[str, Any]) -> bool:
    """Return whether an edit touches a file or symbol that an error names, or the file beside a named test."""
    files, names = [_get_file_name(path) for path in item["files"]], error["names"]
    stems = {_get_stem(name) for name in names if "." in name}
    own = [word for word in re.split(r"[\s'\"=]+", error["command"]) if "." in word]
    return (
        any(name in names or _get_stem(name) in stems for name in files)
        or any(_names(name, item["lines"]) for name in names)
        or any(word.endswith(name) for word in own for name in files)
    )


def _get_stem(name: str) -> str:
    return re.sub(r"^test_|(?:_test|\.test|\.spec|_spec)$", "", name.rpartition(".")[0])


def _names(name: str, lines: str) -> bool:
    """Return whether changed lines have a name; of `package.Name`, the last part counts."""
    word = name.rpartition(".")[2] if name[:1].isupper() else name
    return len(word) >= 4 and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", lines) is not None


def _list_edits(trail: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the steps that changed files of the work."""
    return [
        item
        for item in trail
        if item["kind"] == "edit" or (item["kind"] == "run" and item["files"] and _IN_PLACE.search(item["command"]))
    ]


_IN_PLACE = re.compile(r"\bsed\s+-i|\bperl\s+-\S*i|\bgit mv\b|\bmv\b|\bgit rm\b|\bcp\b|\btee\b")


def _join_edits(edits: list[dict[str, Any]]) -> str:
    """Describe the last edits; those that say nothing of their own only once for each file."""
    shown = list(dict.fromkeys(_describe_step(item) for item in edits))
    return to_one_line("; ".join(shown[-3:]), 400)


def _describe_step(item: dict[str, Any]) -> str:
    if item["kind"] == "run":
        return f"ran `{to_one_line(item['command'], _SHOWN)}`"
    name = ", ".join(map(_get_file_name, item["files"][:3]))
    return f"changed {name}: {item['text']}" if item["text"] else f"changed {name}"


def _find_formatter(since: list[dict[str, Any]], error: dict[str, Any], command: str) -> str:
    """Return the command that formatted or fixed the files, if the error is about that."""
    if error["sort"] != "check" or not (_FORMAT_ERROR.search(error["line"]) or _FORMAT_CHECK.search(error["command"])):
        return ""
    runs = [item["command"] for item in since if item["kind"] == "run" and _FORMATTER.search(item["command"])]
    if _FORMATTER.search(command) and not _FORMATTER.search(error["command"]):
        runs.append(command)
    return to_one_line(same_work.strip_command(runs[-1]), _SHOWN) if runs else ""


def _find_setup(since: list[dict[str, Any]]) -> str:
    """Return the last command that installs or prepares something."""
    for item in reversed(since):
        if item["kind"] == "run" and any(_is_setup(run.words) for run in parse_command(item["command"])):
            return to_one_line(item["command"], _SHOWN)
    return ""


def _find_own_setup(command: str, failed: str) -> str:
    """Return the part of the passing command line that installs or prepares something, unlike the one that failed."""
    runs = [" ".join(run.words) for run in parse_command(command) if _is_setup(run.words)]
    return next((to_one_line(run, _SHOWN) for run in runs if run not in failed), "")


def _is_setup(words: tuple[str, ...]) -> bool:
    return words[0] in _SETUP_PROGRAMS or any(
        word in _SETUP_WORDS for before, word in pairwise(words[:4]) if not before.startswith("-")
    )


def _describe_command(command: str, failed: str) -> str:
    """Return the command that worked; of a long line, the part that changed."""
    if len(command) <= _SHOWN:
        return f"ran `{command}`" + (f" instead of `{failed}`" if len(failed) <= _SHOWN else "")
    start = next((n for n, (one, other) in enumerate(zip(command, failed, strict=False)) if one != other), 0)
    start = command.rfind(" ", 0, max(start - 20, 0)) + 1
    return f"ran `{to_one_line(('…' if start else '') + command[start:], _SHOWN)}`"


def _get_file_name(path: str) -> str:
    return re.split(r"[/\\]", path)[-1]
