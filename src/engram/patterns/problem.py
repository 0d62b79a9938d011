"""What went wrong in a step: a tool was misused, a permission lacked, an error came, or nothing worth a word. Pure."""

from __future__ import annotations

import re
from functools import lru_cache

from engram.digests import commands
from engram.patterns import fingerprint, shape
from engram.patterns import misuse as misuses
from engram.patterns.steps import Step

_NOT_ALLOWED = re.compile(
    r"haven't granted|permission for this tool use was denied|requested permissions? to|was blocked\. for security|"
    r"not allowed to use|permission to use .{1,200} denied|"
    r"requires approval|rejected by user|denied by policy|blocked by (?:a )?hook|sandbox denied|"
    r"not (?:in|within) the allowed",
    re.IGNORECASE,
)  # fmt: skip
_EXCEPTION = re.compile(
    r"^(?:E\s+)?((?:\w+\.)*\w*(?:Error|Exception|SystemExit|KeyboardInterrupt|NotFound|Timeout)\b.*)$"
)
_CODEX_HEAD = re.compile(r"\A(?:Chunk ID|Exit code|Wall time).*?\nOutput:\n", re.DOTALL)
_TOOL_TAGS = re.compile(
    r"^Output: ?|</?(?:tool_use_error|error|stderr|stdout|output)>|^Exit [cC]ode:? -?\d+$|^<shellId.*$", re.MULTILINE
)
# What a check says about the code is the usual work; what it says about how it was called or set up is not.
_SETUP = re.compile(
    r"no module named|modulenotfound|cannot find (?:module|package)|command not found|: not found$|no such file|"
    r"not recognized|missing script|no such command|no tests? (?:ran|found|collected)|unknown (?:option|flag|command|"
    r"argument)|unrecognized (?:option|argument)|permission denied|connection refused|eaddrinuse|already in use|"
    r"timed out|timeout (?:of|after|exceeded|expired)|etimedout|importerror|could not connect|"
    r"cannot connect|no space left|out of memory|killed|not installed|"
    r"no such target|no rule to make|usage:|invalid (?:option|flag)|port \S+ is in use|unexpected argument|"
    r"could not resolve|not a git repository",
    re.IGNORECASE,
)
_CHECK_WORDS = frozenset("check lint test tests typecheck fmt format vet clippy validate verify audit".split())
_ERRORISH = re.compile(
    r"error|exception|fatal|panic|cannot|can't|could not|couldn't|not found|undefined|unresolved|denied|no such|unable|"
    r"invalid|unexpected|mismatch|fail|timed? ?out|refused|conflict|missing|unknown|not a |does(?: not|n't) exist|"
    r"not allowed|killed|already|must |unsupported|unrecogni[sz]ed|usage:|not (?:running|installed|available)|"
    r"no \w+ found|abort|reject|forbidden|unauthori[sz]ed|too (?:many|large|long)|no tests",
    re.IGNORECASE,
)
_WARNING = re.compile(r"^\W*(?:warn(?:ing)?|info|debug|note|npm warn|deprecat)\b|^[\d\s>]*[│|]|^\d+ .*│", re.IGNORECASE)
_ECHO = re.compile(
    r"sibling tool call|operation (?:was )?(?:cancelled|canceled|aborted)|request (?:was )?aborted", re.IGNORECASE
)


def misuse(step: Step) -> str:
    """Return how a tool was misused, or nothing."""
    if not step.failed or step.command or step.done is None:
        return ""
    return misuses.named(step.text[:1500])


def not_allowed(step: Step) -> bool:
    """Tell whether somebody or something did not let it happen."""
    return step.verdict == "denied" or (step.failed and bool(_NOT_ALLOWED.search(step.text[:600])))


def line(step: Step) -> str:
    """Return the line that says best what went wrong."""
    return _line(step.text)


@lru_cache(maxsize=512)
def _line(said: str) -> str:
    text = _TOOL_TAGS.sub("", _CODEX_HEAD.sub("", said)).strip()
    if "Traceback (most recent call last)" in text:
        found = [match[1] for each in text.splitlines() if (match := _EXCEPTION.match(each.strip()))]
        if found:
            return found[-1][:300]
    lines = [each.strip() for each in text.splitlines() if each.strip() and not _WARNING.match(each)]
    setup = next((each for each in lines if _SETUP.search(each)), "")
    return (setup or commands.error_line("\n".join(lines)))[:300]


def checks(command: str) -> bool:
    """Tell whether a command checks code: that it fails is then part of the work."""
    if commands.purpose(command) in ("test", "build"):
        return True
    return any(word in _CHECK_WORDS for part in shape.parts(command) for word in part[1:4])


def error(step: Step) -> str:
    """Return the fingerprint of an error worth a word, or nothing."""
    if not step.failed or not_allowed(step) or misuse(step) or step.verdict == "interrupted":
        return ""
    told = line(step)
    if step.command:
        if shape.is_noise(step.command, step.exit_code, step.text):
            return ""
        if checks(step.command) and not _SETUP.search(told):
            return ""
    if _ECHO.search(told) or not _ERRORISH.search(told):
        return ""
    found = fingerprint.error(told)
    return found if _tells(found) else ""


def from_setup(step: Step) -> bool:
    """Tell whether a failure is about how a command was called or what is installed, not about the work itself."""
    return step.failed and bool(_SETUP.search(line(step)))


_EMPTY = frozenset("error errors exit code status failed failure command fail warning fatal exception line".split())


def _tells(found: str) -> bool:
    """Tell whether an error says anything once what differs is left out."""
    words = [word for word in re.findall(r"[a-z]{3,}", re.sub(r"<\w+>", " ", found)) if word not in _EMPTY]
    return len(words) >= 2


def passed(step: Step) -> bool | None:
    """Tell whether a check passed; None where a step is none, or nobody can tell."""
    purpose = commands.purpose(step.command) if step.command else ""
    if purpose == "test":
        return commands.tests_passed(step.text[-6000:], step.exit_code, step.failed)
    return not step.failed if purpose == "build" and step.verdict and not from_setup(step) else None
