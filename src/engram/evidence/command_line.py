"""Split a shell command into the programs it runs, and tell whose status it reports. Pure."""

from __future__ import annotations

import re
from functools import lru_cache

from engram.platform.value import value

_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?.*?^\s*\1\b", re.DOTALL | re.MULTILINE)
_ASSIGNMENT = re.compile(r"^\w+=")
_TOKEN = re.compile(
    r"""([ \t\r]+|\\\n)|([;&|\n()<>]+)|'([^']*)'|"((?:[^"\\]|\\.)*)"|(\\.|[^\s;&|()<>'"\\]+|.)""", re.DOTALL
)
_PYTHON = re.compile(r"^py(?:thon)?[\d.]*$")
_LONGEST = 4000  # characters of a command that are parsed
_SHELLS = frozenset(("bash", "sh", "zsh", "dash", "ksh", "fish", "wsl", "cmd", "powershell", "pwsh"))
_SCRIPT_OPTION = re.compile(r"^(?:-[a-z]*c|/[cC]|-Command)$")
_WRAPPERS = frozenset(
    "sudo time nice env command exec nohup rtk npx bunx pnpx stdbuf xvfb-run caffeinate winpty then do else if while !"
    " { &".split()
)
_RUNNERS = {  # a program followed by one of these words only starts the program after them
    "uv": ("run",), "poetry": ("run",), "pipenv": ("run",), "pdm": ("run",), "hatch": ("run",), "rye": ("run",),
    "bundle": ("exec",), "pnpm": ("exec", "dlx"), "npm": ("exec",), "yarn": ("exec", "dlx"), "mise": ("exec", "x"),
}  # fmt: skip
_WITH_ARGUMENT = frozenset(("timeout", "gtimeout", "chronic"))


@value
class ProgramRun:
    """One program run by a command line."""

    words: tuple[str, ...]  # the program and its arguments, without wrappers such as sudo or npx
    status: (
        str  # whose status the command reports: its own (known), its own only if it is zero (zero), another (hidden)
    )
    typed: tuple[str, ...] = ()  # all words of this part of the line, with wrappers


@lru_cache(maxsize=256)
def parse_command(command: str) -> tuple[ProgramRun, ...]:
    """Return the programs that a command line runs, in order."""
    text = _HEREDOC.sub("", command[:_LONGEST])
    words, operators = _split_words(text)
    has_pipefail = "pipefail" in text
    runs: list[ProgramRun] = []
    for number, program in enumerate(words):
        bare = _unwrap(program)
        if not bare:
            continue
        status = _find_status(operators[number:], has_pipefail)
        script = _find_script(bare)
        if script is None:
            runs.append(ProgramRun(words=bare, status=status, typed=tuple(program)))
        else:
            runs += [
                ProgramRun(words=run.words, status=_combine(run.status, status), typed=run.typed)
                for run in parse_command(script)
            ]
    return tuple(runs)


def has_hidden_status(command: str) -> bool:
    """Return whether a command line reports the status of none of the programs that do the work."""
    runs = [run for run in parse_command(command) if run.words[0] not in ("cd", "echo", "set", "export")]
    return (bool(runs) and runs[-1].status == "hidden") or (len(runs) > 1 and runs[0].status == "hidden")


def _split_words(text: str) -> tuple[list[list[str]], list[str]]:
    """Return the words of each program, and the operator after each."""
    programs: list[list[str]] = [[]]
    operators: list[str] = []
    skip = False  # the next word is the target of a redirection
    for word in _split_tokens(text):
        if skip:
            skip = False
        elif word[0] in "<>" or word == "&>":
            skip = True
            if programs[-1] and programs[-1][-1] in ("1", "2"):  # the 2 of 2>&1
                programs[-1].pop()
        elif word.strip(";&|\n()"):
            programs[-1].append(word)
        elif programs[-1] and word.strip("()"):
            operators.append(word.strip("()\n") or ";")
            programs.append([])
    if not programs[-1]:  # the line ends with an operator
        programs.pop()
        if operators and operators[-1] == ";":
            operators.pop()
    return programs, [*operators, ""]


def _split_tokens(text: str) -> list[str]:
    """Return words without their quotes, and runs of operator characters."""
    tokens: list[str] = []
    is_open = False  # the last token is a word that goes on
    for match in _TOKEN.finditer(text):
        blank, operator, single, double, plain = match.groups()
        if blank or operator:
            is_open = False
            if operator:
                tokens.append(operator)
            continue
        piece = single if single is not None else double if double is not None else plain
        if is_open:
            tokens[-1] += piece
        else:
            tokens.append(piece)
        is_open = True
    return [token for token in tokens if token]


def _find_status(operators: list[str], has_pipefail: bool) -> str:
    """Return whether the status of a whole line is that of the program before these operators."""
    status = "known"
    for operator in operators:
        if operator == "&&":
            status = "zero"
        elif operator and not (operator == "|" and has_pipefail):
            return "hidden"
    return status


def _combine(inner: str, outer: str) -> str:
    order = ("known", "zero", "hidden")
    return max(inner, outer, key=order.index)


def _unwrap(words: list[str]) -> tuple[str, ...]:
    """Return the words from the program that does the work."""
    rest = list(words)
    while rest:
        name = get_program_name(rest[0])
        if _ASSIGNMENT.match(rest[0]) or name in _WRAPPERS:
            del rest[0]
            while rest and rest[0].startswith("-") and name in _WRAPPERS:
                del rest[0]
        elif name in _WITH_ARGUMENT:
            del rest[0]
            while rest and (rest[0].startswith("-") or rest[0][:1].isdigit()):
                del rest[0]
        elif len(rest) > 1 and rest[1] in _RUNNERS.get(name, ()):
            del rest[:2]
            while rest and rest[0].startswith("-"):
                del rest[0]
        elif len(rest) > 2 and _PYTHON.match(name) and rest[1] == "-m":
            del rest[:2]
        else:
            return (name, *rest[1:])
    return ()


def get_program_name(word: str) -> str:
    """Return a program's name without its directory and extension."""
    name = re.split(r"[/\\]", word)[-1].lower()
    return re.sub(r"\.(?:exe|cmd|bat|ps1)$", "", name)


def _find_script(words: tuple[str, ...]) -> str | None:
    """Return the script of `bash -c '…'`, or None."""
    if words[0] not in _SHELLS:
        return None
    for number, word in enumerate(words[:-1]):
        if _SCRIPT_OPTION.match(word):
            script = words[number + 1]
            return script if script != words[0] else None
    return None
