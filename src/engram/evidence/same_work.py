"""Tell whether a command does what a failed one was to do. Pure."""

from __future__ import annotations

import re
from functools import lru_cache

from engram.evidence import command_shape, purposes
from engram.evidence.command_line import ProgramRun, parse_command
from engram.evidence.content_words import extract_content_words

CHECKS = (purposes.TEST, purposes.BUILD, purposes.LINT)
_SOON = 6  # calls within which another command can replace a failed one
_SHARED = 0.6  # share of the words of a failed command that its replacement has
_SAME_PROGRAM = 0.4  # the same, if both run the same program
_SAME_SCRIPT = 0.7  # the same, for scripts on the command line
_CD = re.compile(r"^cd \S+ (?:&&|;) ")
_TAIL = re.compile(r"\s*(?:2>&1)?\s*\|\s*(?:tail|head|grep|cat|tee|less|sed|awk)\b.*$", re.DOTALL)
_ERROR_OF = re.compile(r"^(?:\(eval\):\d*:?|/?[\w/]*(?:bash|zsh|sh): (?:line \d+: )?)?\s*([\w.-]+): ")
_MISSING = re.compile(
    r"(?:command not found: ([\w.+-]+)|([\w.+-]+): (?:command )?not found|'([\w.+-]+)' is not recognized)"
)
_LOOKING = frozenset("ls cat head tail find grep rg which tree pwd echo stat wc file type test sed awk jq".split())
_QUIET = frozenset("cd sleep set true false : exit date mkdir export unset".split())  # do nothing by themselves
_FILTERS = frozenset("head tail grep rg cat wc sort uniq less tee".split())  # programs at the end of a pipe
_LOOKING_SUBCOMMANDS = re.compile(
    r"^(?:gh (?:api|run|issue|search|pr (?:view|checks|list|diff))|git (?:log|status|show|diff|branch|remote|rev-parse)"
    r"|npm (?:view|ls)|docker (?:ps|logs)|kubectl get)"
)
_SENDS = frozenset(("-X", "--method", "-f", "-F", "--field", "--raw-field", "--input"))  # options of `gh api`
_RUNNERS = frozenset("npm bun pnpm yarn mise make just task deno".split())
_ALL_TESTS = frozenset(("tests", "test", "spec", "src", "lib"))  # directories that hold everything
_INTERPRETERS = frozenset("python python3 node ruby perl bash sh zsh wsl powershell pwsh deno bun".split())
_REMOTE = re.compile(r"^(?:gh (?:api|search|pr (?:view|checks|list)|issue|run)|npm (?:view|ls))\b")
_OWN = re.compile(  # says that a check could not be run, not what it found
    r"command not found|is not recognized as|(?:bash|zsh|sh|cd|\(eval\))\b.*no such file|missing script|unknown (?:"
    r"option|flag|command|shorthand|argument)|unrecognized (?:option|argument)|no such (?:command|option)|usage:|"
    r"could not determine executable|not a git repository|does not contain main module|go\.mod file not found|"
    r"file or directory not found|no such file or directory|can't open input|executable file not found|"
    r"permission denied|parse error near|syntax error|no module named (?:pytest|mypy|ruff)|no tests? ran|"
    r"cannot run \*|ENOENT|does not exist|must be run from",
    re.IGNORECASE,
)


def find_check(command: str) -> tuple[str, ProgramRun] | None:
    """Return the purpose and the program of a command that tests, builds or lints."""
    purpose, run = purposes.find_run(command)
    return (purpose, run) if run and purpose in CHECKS else None


def is_call_error(line: str) -> bool:
    """Return whether an error is about how a check was called, not about what it found."""
    return bool(_OWN.search(line))


@lru_cache(maxsize=256)
def strip_command(command: str) -> str:
    """Return a command without the directory it changes to and without filters of its output."""
    return _TAIL.sub("", _CD.sub("", " ".join(command.split()))).strip()


def is_same_check(command: str, failed: str, text: str) -> bool:
    """Return whether a check covers what an earlier one failed on; `text` names what it failed on."""
    new, old = find_check(command), find_check(failed)
    return bool(new and old) and _is_same_run(new, old, text)  # type: ignore[arg-type]


def includes_check(command: str, failed: str, text: str) -> bool:
    """Return whether one of several checks of a command line covers what an earlier one failed on."""
    old = find_check(failed)
    return bool(old) and any(_is_same_run(new, old, text) for new in purposes.list_checks(command))  # type: ignore[arg-type]


def _is_same_run(new: tuple[str, ProgramRun], old: tuple[str, ProgramRun], text: str) -> bool:
    if new[0] != old[0]:
        return False
    if not _is_same_program(new[1], old[1]):  # a task of a runner, or what it runs on the file in question
        return old[1].words[0] in _RUNNERS and any(
            path.rpartition("/")[2] in text for path in purposes.list_targets(new[1])
        )
    return _covers(new[1], old[1], text)


def _is_same_program(new: ProgramRun, old: ProgramRun) -> bool:
    """Return whether two checks run the same program; tasks of one runner differ by their name."""
    if new.words[0] != old.words[0]:
        return False
    tasks = [command_shape.shape_command(" ".join(run.words)) for run in (new, old)]
    return tasks[0] == tasks[1] or new.words[0] not in _RUNNERS


def _covers(new: ProgramRun, old: ProgramRun, text: str) -> bool:
    filters = purposes.list_filters(new)
    if filters and filters != purposes.list_filters(old) and not _matches_filter(filters, text):
        return False
    targets, before = purposes.list_targets(new), purposes.list_targets(old)
    if not targets or set(targets) <= _ALL_TESTS:
        return True
    if before and all(any(_contains(wide, path) for wide in targets) for path in before):
        return True
    return any(re.split(r"[/:]", path)[-1] in text for path in targets)


def _contains(wide: str, path: str) -> bool:
    return path == wide or path.startswith((f"{wide}/", f"{wide}::")) or wide.endswith(f"/{path}")


def _matches_filter(filters: list[str], text: str) -> bool:
    return any(part and part in text for name in filters for part in re.split(r"[|^$() ]+", name))


def is_same_command(command: str, failed: str) -> bool:
    """Return whether a command is a failed one, run again."""
    return " ".join(command.split()) == " ".join(failed.split()) or (
        strip_command(command) == strip_command(failed) and bool(_CD.match(command)) == bool(_CD.match(failed))
    )


def replaces(command: str, failed: str, line: str, age: int) -> bool:
    """Return whether a command does in another way what a failed one was to do."""
    missing = _MISSING.search(line)
    name = next(filter(None, missing.groups()), "") if missing else ""
    if name and len(name) > 2 and name not in ("cd", "bash", "zsh"):
        return any(name in run.words or run.words[0] == name for run in parse_command(command)) or (
            age <= _SOON and _shares_arguments(command, failed, _SHARED)
        )
    if age > _SOON:
        return False
    culprit = _find_culprit(failed, line)
    if culprit is None:
        return False
    if is_looking(culprit):
        return any(_does_same(run, culprit, 0.7) for run in parse_command(command))
    runs = parse_command(command)
    if any(_does_same(run, culprit, _SAME_PROGRAM) for run in runs):
        return True
    is_other_program = all(run.words[0] != culprit.words[0] for run in runs)  # `git pull` is no `git push`
    is_script = culprit.words[0] in _INTERPRETERS
    return (
        (is_other_program or is_script) and not is_looking_only(command) and _shares_arguments(command, failed, _SHARED)
    )


def _find_culprit(failed: str, line: str) -> ProgramRun | None:
    """Return the program of a command line that failed: the one the error names, else the last one."""
    quiet = ("cd", "echo", "set", "export", "sleep", "true", "exit")
    every = [run for run in parse_command(failed) if run.words[0] not in quiet]
    runs = [run for run in every if run.words[0] not in _FILTERS] or every
    named = _ERROR_OF.match(line)
    said = "git" if line.startswith(("fatal:", "error: pathspec", "! [")) else named[1] if named else ""
    return next((run for run in runs if run.words[0] == said), runs[-1] if runs else None)


def find_failed_part(command: str, line: str) -> tuple[str, str]:
    """Return the program and the shape of the command of a line that failed with an error."""
    parts = command_shape.list_parts(command)
    culprit = _find_culprit(command, line)
    if culprit is None or not parts:
        return ("", "")
    named = [part for part in parts if culprit.words[0] in part[1].lower().split()]
    return named[0] if named else parts[-1]


def is_looking(run: ProgramRun) -> bool:
    """Return whether a program only looks at something."""
    if run.words[:2] == ("gh", "api") and _SENDS.intersection(run.words):
        return False
    return run.words[0] in _LOOKING or bool(_LOOKING_SUBCOMMANDS.match(" ".join(run.words[:3])))


def is_search(command: str) -> bool:
    """Return whether a command line only looks for something, so that finding nothing is no error."""
    runs = [run for run in parse_command(command) if run.words[0] not in ("cd", "sleep", "set")]
    return all(_is_probe(run) or run.words[0] in _LOOKING or _REMOTE.match(" ".join(run.words[:3])) for run in runs)


def _is_probe(run: ProgramRun) -> bool:
    return run.words[1:] in (("--version",), ("-v",), ("version",), ("--help",))


def is_looking_only(command: str) -> bool:
    """Return whether a command line changes nothing that can be told."""
    return all(is_looking(run) or run.words[0] in _QUIET for run in parse_command(command))


def _does_same(run: ProgramRun, failed: ProgramRun, least: float) -> bool:
    """Return whether two runs of one program with one subcommand are about the same thing."""
    shapes = {command_shape.shape_command(" ".join(item.words[:6])) for item in (run, failed)}
    if run.words[0] != failed.words[0] or len(shapes) > 1:
        return False
    old, new = (extract_content_words(" ".join(item.words[1:])) for item in (failed, run))
    if {"-c", "-e"} & set(failed.words[1:2]):
        least = _SAME_SCRIPT
    return len(old & new) >= max(1, least * len(old))


def _shares_arguments(command: str, failed: str, least: float) -> bool:
    new, old = extract_content_words(strip_command(command)), extract_content_words(strip_command(failed))
    return len(new & old) >= max(3, least * len(old))
