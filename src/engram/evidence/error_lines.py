"""Find the lines of an output that say what went wrong, and the names in them. Pure."""

from __future__ import annotations

import re

_FIRST, _LAST = 8_000, 6_000  # characters from the start and the end of an output
_LONGEST = 220
_COLOR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_TAG = re.compile(r"</?(?:tool_use_error|error|stderr|stdout|output)>")
_PREFIX = re.compile(r"^(?:\[[\w:.-]+\]\s+|Output:\s+|E\s{2,}(?=\S))")  # of a task runner, of pytest
_NOISE = re.compile(
    r"^(?:Exit code:? ?-?\d+$|Traceback \(most recent|Chunk ID|Wall time|Process exited|Original token|Output:$|\$ |#|"
    r"\.{3}|ERROR task failed|Error Trace:|={3,}|-{5,}|_{5,}|\|\|? |Found \d+ errors?|WARN\b|warning\b|npm warn|hint:|"
    r"\d+ \d* *[│|]|[│┃|] |.*\bPASSED\b|ok\s+\S+\s+[\d(]|PASS\b|--- PASS|error: Recipe|"
    r"make(?:\[\d+\])?: \*\*\* \[[^\]]*\] Error \d+$|"
    r"exit status \d+$|FAIL\t?\s*$|npm error (?:code|path|command|errno|A complete|Lifecycle)|ELIFECYCLE|"
    r"> |Command failed|error: script \"|\[\w+\]$|level=\w+)",
    re.IGNORECASE,
)
_TEST = re.compile(  # a test that failed, by its name
    r"^\s*(?:--- FAIL: (?!\s)\S+|(?:FAILED|ERROR) \S+::\S+|\S+::\S+ (?:FAILED|ERROR)\b|● .+ › .+|not ok \d+ |\(fail\) "
    r"|✗ |✖ (?!\d+ problem)|× \S+.* > |test \S+ \.\.\. FAILED|(?:FAIL|ERROR): test\w* \(|\d+\) (?:test|\w+#test)\w+)"
)
_PLACE = re.compile(  # a message about a place in the code
    r"^(?:vet(?:\.exe)?: |error: )?(?:[A-Za-z]:)?[^\s:(]+\.\w{1,6}(?::\d+(?::\d+)?:?|\(\d+(?:,\d+)?\):)\s+"
    r"(?!info\b|note\b|warning\b)\S.{4,}|^\d+:\d+\s+error\s+\S|"
    r"^\S+\.\w+ (?:format|lint/\S+|assist/\S+|organizeImports)\b"
)
_EXCEPTION = re.compile(
    r"^(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Warning as error)\b(?: \[\w+\])?: ?\S"
)
_STATED = re.compile(
    r"^(?:fatal|error|panic|error\[\w+\]|npm error|bash|zsh|sh|/\S+sh|\(eval\)|thread '.+' panicked|gh|git|! \[)"
    r"(?:\b|(?<=\[))[:\[ \w]"
    r"|^.{0,60}: (?:command not found|No such file or directory)|^HTTP [45]\d\d|^error ",
    re.IGNORECASE,
)
_REJECTED = re.compile(r"^! \[(?:remote )?rejected\]")
_GENERIC = re.compile(r"^(?:error: (?:failed to push some refs|process completed|command failed)|✖ \d+)", re.IGNORECASE)
ERROR_WORDS = re.compile(
    r"error|exception|fatal|panic|cannot|can't|could not|not found|undefined|unresolved|denied|no such|unable|invalid|"
    r"unexpected|mismatch|fail|timed? ?out|refused|conflict|must |already|missing|does not exist", re.IGNORECASE
)  # fmt: skip
_QUOTED = re.compile(r"[`'\"‘“]([\w./@:-]{3,60})[`'\"’”]")
_FILE = re.compile(r"[\w.@-]*\w\.(?:[a-z]{1,5}|[a-z]+\d)(?=$|[:\s,;)'\"`(\]])")
_SYMBOL = re.compile(r"\b(?:[A-Za-z]+_\w+|[a-z]+[A-Z]\w+|[A-Z][a-z0-9]+[A-Z]\w*|[A-Z]\w+\.[A-Z]\w+)\b")
_TYPE = re.compile(r"^(?:\w*(?:Error|Exception)|Error_?Trace)$")
_POSITION = re.compile(r"([\w./\\@-]+\.[a-z]{1,5}):\d+\b")
STOPPED = re.compile(r"^Command (?:did not complete within|timed out)", re.IGNORECASE)
_SOMEHOW = 5  # rank of a line with a word for an error
_NOT_STARTED = re.compile(r"^(?:Indentation|Syntax|ModuleNotFound|Import|Name|FileNotFound)Error: ")
EXCEPTION = 2  # rank of the last exception of a program
STATED = 4  # rank of a line that begins like a message of a program
_NAMES = 12


def find_error_line(output: str) -> str:
    """Return the line of an output that best describes the error."""
    ranked = _rank_lines(output)
    if ranked and ranked[0][0] > _SOMEHOW and len(ranked) <= 5:
        return "; ".join(line for _, line in ranked[:3])[:_LONGEST]  # only together they say something
    return ranked[0][1][:_LONGEST] if ranked else ""


def list_error_lines(output: str) -> list[str]:
    """Return the lines of an output that are as good a description of the error as the best one."""
    ranked = _rank_lines(output)
    return [line[:_LONGEST] for rank, line in ranked if rank == ranked[0][0]][:10]


def is_test_failure(line: str) -> bool:
    """Return whether a line names a test that failed."""
    return bool(_TEST.match(line))


def names_place(line: str) -> bool:
    """Return whether a line is a message of a compiler or linter about a place in the code."""
    return bool(_PLACE.match(line))


def is_error_message(output: str) -> bool:
    """Return whether an output is nothing but an error message, or begins with one of an interpreter."""
    lines = [line.strip() for line in output[:2_000].splitlines() if line.strip()]
    told = [line for line in lines if not _NOISE.match(line)]
    if not told:
        return False
    if STOPPED.match(told[0]) or any(_NOT_STARTED.match(line) for line in told[:4]):
        return True
    return len(told) <= 3 and bool(_STATED.match(told[0])) and bool(ERROR_WORDS.search(told[0]))


def count_lines(output: str) -> int:
    """Return the number of lines of an output that say something."""
    return len(_rank_lines(output))


def extract_names(text: str) -> list[str]:
    """Return the files and symbols that an error names."""
    files = [name for name in _FILE.findall(text) if not name.endswith((".com", ".org", ".io", ".dev"))]
    quoted = [re.split(r"[/\\]", name)[-1] for name in _QUOTED.findall(text)]
    symbols = [name for name in _SYMBOL.findall(text) if not _TYPE.match(name)]
    return [name for name in dict.fromkeys([*files, *quoted, *symbols]) if len(name) >= 3][:_NAMES]


def list_places(output: str) -> list[str]:
    """Return the files that an output names with a line number."""
    return list(dict.fromkeys(re.split(r"[/\\]", path)[-1] for path in _POSITION.findall(output[-_LAST:])))[:6]


def get_rank(line: str) -> int:
    """Return how well a line tells what went wrong, 0 for the best."""
    return _rank(line, [line] if _EXCEPTION.match(line) else [])


def _rank_lines(output: str) -> list[tuple[int, str]]:
    """Return the lines that may describe the error with a rank, the best first."""
    text = _COLOR.sub(
        "", output[:_FIRST] + ("\n" + output[-_LAST:] if len(output) > _FIRST + _LAST else output[_FIRST:])
    )
    lines = [_PREFIX.sub("", _TAG.sub("", line).replace("━", "").strip()) for line in text.splitlines()]
    lines = [line for line in dict.fromkeys(lines) if line and not _NOISE.match(line)]
    exceptions = [line for line in lines if _EXCEPTION.match(line)]
    ranked = [(_rank(line, exceptions[-1:]), number, line) for number, line in enumerate(lines)]
    return [(rank, line) for rank, _, line in sorted(ranked)]


def _rank(line: str, last_exception: list[str]) -> int:
    if _TEST.match(line) or _REJECTED.match(line):
        return 0
    if _PLACE.match(line) and ERROR_WORDS.search(line):
        return 1
    if line in last_exception:
        return 2
    if _PLACE.match(line):
        return 3
    if _STATED.match(line) and ERROR_WORDS.search(line) and not _GENERIC.match(line):
        return STATED
    return 5 if ERROR_WORDS.search(line) else 6
