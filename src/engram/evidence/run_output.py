"""Read whether a test run passed from the runner's own summary line. Pure.

Only lines in which a runner sums up count: "2 failed" in the middle of a log says nothing about the run.
"""

from __future__ import annotations

import re

_READ = (4_000, 24_000)  # characters from the start and the end of an output
_COLOR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")

_FAILED = re.compile(
    r"""^(?:
      =+\s.*\b[1-9]\d*\s(?:failed|errors?)\b.*\sin\s[\d.]+s.*=+\s*$            # pytest
    | [1-9]\d*\s(?:failed|errors?)\b.*\sin\s[\d.]+s                            # pytest -q
    | (?:FAILED|ERROR)\s\S+::\S+                                               # pytest's short summary
    | FAILED\s\((?:failures|errors|unexpected)                                 # unittest
    | \s*(?:Tests|Test\sSuites|Test\sFiles):?\s+[1-9]\d*\sfailed               # jest, vitest
    | \s*[1-9]\d*\sfailing\b                                                   # mocha
    | \s*[1-9]\d*\sfail\s*$                                                    # bun
    | FAILED\s\|\s\d+\spassed                                                  # deno
    | [#ℹ]\sfail\s[1-9]                                                        # node
    | not\sok\s\d+                                                             # TAP
    | FAIL(?:\s+\S+.*)?$ | \s*---\sFAIL:                                       # go
    | DONE\s\d+\stests?.*\b[1-9]\d*\s(?:failures?|errors?)\b                   # gotestsum
    | test\sresult:\sFAILED | error:\stest\sfailed                             # cargo
    | \s*Summary\s\[.*\b[1-9]\d*\sfailed                                       # nextest
    | \d+\sexamples?,\s[1-9]\d*\sfailures?                                     # rspec
    | \d+\s(?:runs|tests),.*\b[1-9]\d*\s(?:failures|errors)\b                  # minitest
    | FAILURES!|ERRORS! | Tests:\s\d+,.*(?:Failures|Errors):\s[1-9]            # phpunit
    | (?:\[\w+\]\s)?Tests\srun:\s\d+,\sFailures:\s(?:[1-9]|0,\sErrors:\s[1-9])  # maven, junit
    | (?:\[ERROR\]\s)?BUILD\sFAIL(?:URE|ED) | \d+\stests\scompleted,\s[1-9]\d*\sfailed   # maven, gradle
    | \s*Failed!\s+-\sFailed: | Test\sRun\sFailed                              # dotnet
    | \d+%\stests\spassed,\s[1-9]\d*\stests\sfailed                            # ctest
    | .*Executed\s\d+\stests?,\swith\s[1-9]\d*\s(?:test\s.*)?failures?         # swift
    | .*Test\srun\swith\s\d+\stests?.*\sfailed\safter                          # swift testing
    | \s+[1-9]\d*\sfailed\s*$                                                  # playwright
    | \s*evaluation\sfailed\s:\( | make(?:\[\d+\])?:\s\*\*\*.*Error\s\d        # tox, make
    )""",
    re.MULTILINE | re.VERBOSE,
)
_PASSED = re.compile(
    r"""^(?:
      =+\s.*\b\d+\spassed\b.*\sin\s[\d.]+s.*=+\s*$
    | \d+\spassed\b.*\sin\s[\d.]+s
    | OK(?:\s\(.*\))?\s*$
    | \s*(?:Tests|Test\sFiles):?\s+.*\b\d+\spassed
    | \s*\d+\spassing\b
    | \s*\d+\spass\s*$
    | ok\s\|\s\d+\spassed
    | [#ℹ]\spass\s\d
    | ok\s+\S+\s+(?:[\d.]+s|\(cached\)|coverage:) | PASS\s*$ | ---\sPASS: | \s*---\sPASS:
    | DONE\s\d+\stests
    | test\sresult:\sok
    | \s*Summary\s\[.*\bpassed
    | \d+\sexamples?,\s0\sfailures
    | \d+\s(?:runs|tests),.*\b0\sfailures,\s0\serrors
    | OK\s\(\d+\stests?
    | (?:\[\w+\]\s)?Tests\srun:\s\d+,\sFailures:\s0,\sErrors:\s0
    | BUILD\sSUCCESS
    | \s*Passed!\s+-\sFailed:\s+0 | Test\sRun\sSuccessful
    | 100%\stests\spassed
    | .*Executed\s\d+\stests?,\swith\s0\s(?:test\s.*)?failures
    | .*Test\srun\swith\s\d+\stests?.*\spassed\safter
    | \s+\d+\spassed\s\(
    | \s*congratulations\s:\)
    )""",
    re.MULTILINE | re.VERBOSE,
)
_BUILD_FAILED = re.compile(
    r"""^(?:
      \S+\.\w+:\d+(?::\d+)?:\s(?:error\b|undefined|cannot|could\snot|syntax\serror|.*(?:does\snot\simplement|undefined:|
        (?:declared|imported)\sand\snot\sused|is\snot\sdefined|missing\sreturn|(?:too\smany|not\senough)\sarguments|
        \([a-z]+(?:lint|check|const|vet|sec|fmt)?\)$))
    | \S+\(\d+,\d+\):\serror\s | error(?:\[E\d+\])?:\s | (?:\s*✖\s)?[1-9]\d*\s(?:problems?|issues?)\b
    | E\d+\s\[\w+\]\sRuntime\serror
    | Found\s[1-9]\d*\serrors? | npm\sERR! | make(?:\[\d+\])?:\s\*\*\* | BUILD\sFAIL
    )""",
    re.MULTILINE | re.VERBOSE,
)
_NOTHING_FOUND = re.compile(
    r"^(?:0 issues\.?|no issues found.*|(?:success: )?no (?:issues|errors|problems)\b.*|all checks passed!?|"
    r"found 0 errors.*|(?:\u2714 )?0 errors?, \d+ warnings?.*|all matched files use prettier.*|"
    r"checked \d+ files? in .*no fixes.*)$",
    re.IGNORECASE | re.MULTILINE,
)
_NOT_RUN = re.compile(
    r"command not found|is not recognized as|No such file or directory|no test files\]\s*$|no tests? (?:ran|found|"
    r"to run)"
    r"|timed out|timeout exceeded|running in (?:the )?background|Command was manually backgrounded",
    re.IGNORECASE,
)
_STOPPED = frozenset((124, 126, 127, 130, 137, 143))  # timed out, not started, killed


def read_verdict(output: str) -> bool | None:
    """Return whether a test run passed, by the runner's summary; None if there is none."""
    text = _COLOR.sub("", _take_ends(output))
    if _FAILED.search(text):
        return False
    return True if _PASSED.search(text) else None


def judge_run(output: str, status: str, exit_code: int | None, failed: bool) -> bool | None:
    """Return whether a run passed, by its summary and its status together; None if neither tells.

    `status` says whose status the command reports, as in ProgramRun.
    """
    summary = read_verdict(output)
    is_zero = not failed and not exit_code
    if exit_code in _STOPPED:
        return summary if summary is False else None
    if status == "known" and is_zero:
        return None if summary is None and _NOT_RUN.search(output[-2000:]) else True
    if summary is not None:
        return summary if status != "known" else False
    if status == "zero" and is_zero:
        return True
    return None if status != "known" or _NOT_RUN.search(output[-2000:]) else False


def has_build_failed(output: str) -> bool:
    """Return whether a compiler or a linter reports errors in its output."""
    return bool(_BUILD_FAILED.search(_COLOR.sub("", _take_ends(output))))


def has_check_passed(output: str) -> bool:
    """Return whether a compiler or a linter says that it found nothing, or says nothing at all."""
    return not output.strip() or bool(_NOTHING_FOUND.search(_COLOR.sub("", output[-2_000:])))


def _take_ends(output: str) -> str:
    first, last = _READ
    return output if len(output) <= first + last else f"{output[:first]}\n{output[-last:]}"
