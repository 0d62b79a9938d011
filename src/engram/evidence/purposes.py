"""Tell what a shell command is for: running tests, a build or a check, a commit. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from engram.evidence.command_line import ProgramRun, parse_command

TEST, BUILD, LINT, COMMIT, REVERT, PUSH = "test", "build", "lint", "commit", "revert", "push"

_MAYBE = re.compile(
    r"test|spec|tox|nox|jest|mocha|ava\b|check|lint|build|tsc|mypy|pyright|ruff|flake8|vet\b|clippy|biome|prettier"
    r"|gofmt|vale|make|gcc|clang|cargo|mvn|gradle|docker|commit|push|revert|reset|restore|stash|clean|checkout|gh pr"
)
_TEST_PROGRAMS = frozenset(
    "pytest py.test unittest tox nox jest vitest mocha ava rspec minitest phpunit pest ctest gotestsum nextest karma"
    " ginkgo cypress testcafe busted".split()
)
_LINT_PROGRAMS = frozenset(
    "eslint ruff flake8 pylint golangci-lint biome prettier markdownlint markdownlint-cli2 rubocop shellcheck vale"
    " gofmt gofumpt black ty isort stylelint mypy pyright tsc lint-imports actionlint staticcheck oxlint".split()
)
_BUILD_PROGRAMS = frozenset("gcc g++ clang cmake ninja msbuild goreleaser webpack rollup tsup xcodebuild".split())
_SUBCOMMANDS = {  # what a program's own subcommands are for
    "go": {"test": TEST, "build": BUILD, "vet": LINT, "install": BUILD},
    "cargo": {"test": TEST, "nextest": TEST, "build": BUILD, "check": BUILD, "clippy": LINT, "fmt": LINT},
    "deno": {"test": TEST, "lint": LINT, "check": LINT},
    "bun": {"test": TEST, "build": BUILD},
    "dotnet": {"test": TEST, "build": BUILD},
    "swift": {"test": TEST, "build": BUILD},
    "flutter": {"test": TEST, "build": BUILD, "analyze": LINT},
    "dart": {"test": TEST, "analyze": LINT},
    "mix": {"test": TEST, "compile": BUILD},
    "zig": {"test": TEST, "build": BUILD},
    "bazel": {"test": TEST, "build": BUILD},
    "playwright": {"test": TEST},
    "rails": {"test": TEST},
    "docker": {"build": BUILD},
    "git": {"commit": COMMIT, "revert": REVERT, "push": PUSH, "restore": REVERT, "clean": REVERT},
    "pre-commit": {"run": LINT},
}
_TASK_PROGRAMS = frozenset(
    "npm pnpm yarn bun mise make gmake just task rake gradle gradlew mvn mvnw sbt deno hatch pdm poetry nx turbo"
    " invoke python python3".split()
)
_TASKS = (  # names of tasks and scripts
    (TEST, re.compile(r"^(?:\w+:)?(?:tests?|spec|verify|e2e|unit|ci)(?:$|[:_\-.])|(?:[:_\-]|^)tests?(?:$|[:_\-])")),
    (LINT, re.compile(r"^(?:lint|check|typecheck|type-check|types|fmt|format|vet|style)(?:$|[:_\-])")),
    (BUILD, re.compile(r"^(?:build|compile|dist|package|assemble)(?:$|[:_\-])")),
)
_SCRIPT_PROGRAMS = frozenset(("npm", "pnpm", "yarn", "bun", "deno"))  # what follows the script are its arguments
_RUN_WORDS = frozenset(("run", "run-script", "exec"))
_TEST_SCRIPT = re.compile(r"(?:^|[/\\])run_?tests?\.py$")
_WITH_VALUE = frozenset(("--filter", "-F", "--prefix", "--cwd", "-C", "-w", "--workspace", "-f", "--directory"))
_FILTERS = frozenset(("-run", "-k", "-t", "--grep", "--testNamePattern", "--test-name-pattern", "-m"))
_TARGETLESS = frozenset("run check format fmt lint ci --".split())  # words of a linter that are no target
_ONLY_ASKED = frozenset(("--help", "-h", "--version", "--collect-only", "--co", "--listTests", "--list", "-list"))


@lru_cache(maxsize=512)  # callers ask several times in a row
def find_purpose(command: str) -> str:
    """Return what a command is for: test, build, commit, revert, push, or ""."""
    purpose = find_run(command)[0]
    return BUILD if purpose == LINT else purpose


@lru_cache(maxsize=512)
def find_run(command: str) -> tuple[str, ProgramRun | None]:
    """Return the purpose of a command and the program that serves it."""
    if not _MAYBE.search(command.lower()):
        return "", None
    named = [(purpose, run) for run in parse_command(command) if (purpose := name_purpose(run.words))]
    for purpose in (COMMIT, REVERT, PUSH, TEST, BUILD, LINT):
        runs = [run for name, run in named if name == purpose]
        if runs:
            return purpose, runs[-1]
    return "", None


def list_checks(command: str) -> list[tuple[str, ProgramRun]]:
    """Return every test, build and linter that a command line runs."""
    named = [(name_purpose(run.words), run) for run in parse_command(command)]
    return [(purpose, run) for purpose, run in named if purpose in (TEST, BUILD, LINT)]


def list_targets(run: ProgramRun) -> list[str]:
    """Return the files, directories or packages that a check is run on; none if it is run on everything."""
    name, arguments = run.words[0], _list_arguments(run.words[1:])
    if name in _TASK_PROGRAMS:
        arguments = [word for word in arguments if "/" in word or "\\" in word or "." in word.strip(".")]
    elif name in _SUBCOMMANDS or name in _LINT_PROGRAMS:
        arguments = [word for word in arguments if word not in _SUBCOMMANDS.get(name, {}) and word not in _TARGETLESS]
    paths = (re.sub(r"(?:^|/)\.{1,3}$", "", word.replace("\\", "/")).removeprefix("./") for word in arguments)
    return [path.strip("/") for path in paths if path.strip("/.")]


def list_filters(run: ProgramRun) -> list[str]:
    """Return which tests a run is limited to, by name."""
    return [word for before, word in pairwise(run.words) if before in _FILTERS]


def _list_arguments(rest: Sequence[str]) -> list[str]:
    """Return the words after a program that are neither options nor their values."""
    return [
        word
        for before, word in zip(("", *rest), rest, strict=False)
        if not word.startswith("-") and before not in _WITH_VALUE and before not in _FILTERS
    ]


def name_purpose(words: tuple[str, ...]) -> str:
    """Return what one program is run for."""
    name, rest = words[0], words[1:]
    if _ONLY_ASKED.intersection(rest):
        return ""
    if name in _TEST_PROGRAMS:
        return TEST
    if name in _LINT_PROGRAMS:
        return LINT
    if name in _BUILD_PROGRAMS:
        return BUILD
    if name == "gh":
        return PUSH if rest[:2] in (("pr", "create"), ("pr", "merge")) else ""
    if name == "node" and "--test" in rest:
        return TEST
    arguments = _list_arguments(rest)
    if name == "git":
        return _name_git_purpose(list(rest))
    found = _SUBCOMMANDS.get(name, {}).get(arguments[0] if arguments else "", "")
    return found or (_name_task(name, arguments) if name in _TASK_PROGRAMS else "")


def _name_git_purpose(rest: list[str]) -> str:
    while rest and rest[0].startswith("-"):
        del rest[: 2 if rest[0] in ("-C", "-c") else 1]
    if not rest:
        return ""
    if rest[0] == "reset":
        return REVERT if "--hard" in rest else ""
    if rest[0] == "checkout":
        return REVERT if "--" in rest else ""
    if rest[0] == "stash":
        return REVERT if rest[1:2] == ["drop"] else ""
    return _SUBCOMMANDS["git"].get(rest[0], "")


def _name_task(program: str, arguments: list[str]) -> str:
    """Return what a task runner's task is for, by its name."""
    if program == "npm" and arguments[:1] == ["ci"]:
        return ""  # installs
    tasks = [word.rpartition(":")[2] if word.startswith(":") else word for word in arguments if word not in _RUN_WORDS]
    if program.startswith("python"):
        return TEST if tasks and _TEST_SCRIPT.search(tasks[0]) else ""
    if program in ("make", "gmake") and "check" in tasks:
        return TEST
    for task in tasks[:1] if program in _SCRIPT_PROGRAMS else tasks[:4]:
        for purpose, pattern in _TASKS:
            if pattern.search(task.lower()):
                return purpose
    return BUILD if program in ("make", "gmake") and not tasks else ""
