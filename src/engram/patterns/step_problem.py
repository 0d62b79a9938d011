"""Classify what went wrong in a step: misuse of a tool, missing permission, an error, or nothing relevant. Pure."""

from __future__ import annotations

import re
from functools import lru_cache

from engram.evidence import command_shape, error_lines, error_signature, purposes
from engram.evidence.run_output import judge_run
from engram.patterns import tool_misuse
from engram.patterns.steps import SessionStep

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
# A check that reports problems in the code is normal work; one that reports how it was called or set up is not.
_SETUP = re.compile(
    r"no module named|modulenotfound|cannot find (?:module|package)|command not found|: not found$|no such file|"
    r"not recognized|missing script|no such command|no tests? (?:ran|found|collected)|unknown (?:option|flag|command|"
    r"argument)|unrecognized (?:option|argument)|permission denied|connection refused|eaddrinuse|already in use|"
    r"timed out|timeout (?:of|after|exceeded|expired)|etimedout|importerror|could not connect|"
    r"cannot connect|no space left|out of memory|killed|not installed|"
    r"no such target|no rule to make|usage:|invalid (?:option|flag)|port \S+ is in use|unexpected argument|"
    r"could not resolve|not a git repository|does not contain main module|go\.mod file not found|"
    r"could not find `?cargo",
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


# What Engram's own hooks and commands answer: two agents wanted one file, and nobody did anything wrong.
_OWN_REFUSAL = re.compile(
    r"This is locked by .{1,300} for another|lock it again if you still need it"
    r"|^\W*engram: |From memory \(quoted data\)",
    re.MULTILINE | re.DOTALL,
)


def is_own_refusal(step: SessionStep) -> bool:
    """Check whether Engram refused a step."""
    has_no_result = step.verdict == "denied" or step.has_failed
    return has_no_result and bool(_OWN_REFUSAL.search(step.text[:1500]))


def find_misuse(step: SessionStep) -> str:
    """Return how a tool was misused, or an empty string."""
    if not step.has_failed or step.command or step.done is None or is_own_refusal(step):
        return ""
    return tool_misuse.name_misuse(step.text[:1500])


def is_not_allowed(step: SessionStep) -> bool:
    """Check whether a step was denied by a user or a policy."""
    if is_own_refusal(step):
        return False
    return step.verdict == "denied" or (step.has_failed and bool(_NOT_ALLOWED.search(step.text[:600])))


def find_problem_line(step: SessionStep) -> str:
    """Return the line that describes a failure best."""
    return _find_line(step.text)


@lru_cache(maxsize=512)
def _find_line(output: str) -> str:
    text = _TOOL_TAGS.sub("", _CODEX_HEAD.sub("", output)).strip()
    if "Traceback (most recent call last)" in text:
        exceptions = [match[1] for text_line in text.splitlines() if (match := _EXCEPTION.match(text_line.strip()))]
        if exceptions:
            return exceptions[-1][:300]
    lines = [
        text_line.strip() for text_line in text.splitlines() if text_line.strip() and not _WARNING.match(text_line)
    ]
    setup = next((text_line for text_line in lines if _SETUP.search(text_line)), "")
    return (setup or error_lines.find_error_line("\n".join(lines)))[:300]


def is_check(command: str) -> bool:
    """Check whether a command checks code, so that failing is part of the work."""
    if purposes.find_purpose(command) in ("test", "build"):
        return True
    return any(word in _CHECK_WORDS for part in command_shape.split_commands(command) for word in part[1:4])


def fingerprint_step_error(step: SessionStep) -> str:
    """Return the fingerprint of a relevant error, or an empty string."""
    if not step.has_failed or is_not_allowed(step) or find_misuse(step) or step.verdict == "interrupted":
        return ""
    if is_own_refusal(step):
        return ""
    problem_text = find_problem_line(step)
    if step.command:
        if command_shape.is_noise(step.command, step.exit_code, step.text):
            return ""
        if is_check(step.command) and not _SETUP.search(problem_text):
            return ""
    if _ECHO.search(problem_text) or not _ERRORISH.search(problem_text):
        return ""
    error_print = error_signature.make_signature(problem_text)
    return error_print if _is_telling(error_print) else ""


def is_setup_failure(step: SessionStep) -> bool:
    """Check whether a failure comes from the call or the installation, not from the work itself."""
    return step.has_failed and bool(_SETUP.search(find_problem_line(step)))


_EMPTY_WORDS = frozenset(
    "error errors exit code status failed failure command fail warning fatal exception line".split()
)


def _is_telling(error_print: str) -> bool:
    """Check whether a fingerprint still says anything specific."""
    words = [word for word in re.findall(r"[a-z]{3,}", re.sub(r"<\w+>", " ", error_print)) if word not in _EMPTY_WORDS]
    return len(words) >= 2


def has_passed(step: SessionStep) -> bool | None:
    """Return whether a check passed; None if the step is not a check, or the result is unknown."""
    purpose, run = purposes.find_run(step.command) if step.command else ("", None)
    if run and purpose == purposes.TEST:
        return judge_run(step.text, run.status, step.exit_code, step.has_failed)
    is_check = purpose in (purposes.BUILD, purposes.LINT)
    return not step.has_failed if is_check and step.verdict and not is_setup_failure(step) else None
