"""Reduce a shell command to its shape: its programs and subcommands. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?.*?(?:^\s*\1\b|\Z)", re.DOTALL | re.MULTILINE)
_QUOTED = re.compile(r"\"(?:\\.|[^\"\\])*\"|'[^']*'|\$\([^()]*\)|`[^`]*`", re.DOTALL)
_INNER = re.compile(r"^\s*(?:\S*/)?(?:ba|z)?sh\s+-l?c\s+(['\"])(.*)\1\s*$", re.DOTALL)
_ELSEWHERE = re.compile(r"\bgit\s+(?:-C|--git-dir|-c)\s+\S+")
_SPLIT = re.compile(r"&&|\|\||;|\n")
_SETTING = re.compile(r"^(?:export\s+)?\w+=\S*\s*")
_WRAPPERS = frozenset("sudo time command env nohup exec xargs bash sh zsh timeout then do".split())
_QUIET = frozenset(
    "cd echo export source . set true sleep printf pwd unset alias trap wait if fi done for while clear exit".split()
)
_SUBCOMMAND = re.compile(r"[a-z][\w:.-]*", re.IGNORECASE)
# How many words after a program's name say what it does; 0 for those not listed.
_DEPTH = {
    "git": 1, "npm": 2, "pnpm": 2, "yarn": 2, "bun": 2, "deno": 2, "cargo": 1, "go": 1, "docker": 2, "kubectl": 1,
    "gh": 2, "uv": 2, "poetry": 1, "pip": 1, "pip3": 1, "make": 1, "just": 1, "mise": 2, "task": 1, "dotnet": 1,
    "gradle": 1, "gradlew": 1, "mvn": 1, "terraform": 1, "brew": 1, "apt": 1, "apt-get": 1, "systemctl": 1, "helm": 1,
    "ruff": 1, "ty": 1, "biome": 1, "mix": 1, "bundle": 1, "rails": 1, "aws": 2, "gcloud": 3, "nix": 1, "bazel": 1,
    "swift": 1, "flutter": 1, "rustup": 1, "conda": 1, "hatch": 2, "playwright": 1, "manage.py": 1,
}  # fmt: skip
# Wrappers: the command they start says more than they do.
_RUNNERS = {
    "uv": ("run",), "poetry": ("run",), "pdm": ("run",), "rye": ("run",), "hatch": ("run",), "pipx": ("run",),
    "bundle": ("exec",), "mise": ("exec", "x"), "pnpm": ("exec", "dlx"), "npm": ("exec",), "npx": (), "uvx": (),
    "bunx": (),
}  # fmt: skip
_MODULE = re.compile(r"^(?:.*/)?python[\d.]*$")
_NOISY = frozenset(
    "grep egrep fgrep rg ag ack diff cmp test [ [[ which type pgrep find fd lsof ping kill pkill killall false".split()
)
_HIDDEN = re.compile(r"\|\|\s*(?:true|:|echo)\b")
_OPTION = re.compile(r"--?[A-Za-z][\w-]*")
_MAX_OPTIONS = 6
_MAX_COMMANDS = 3  # commands of one line that count


@lru_cache(maxsize=4096)
def shape_command(command: str) -> str:
    """Return the programs and subcommands of a command line, without its arguments."""
    shapes: list[str] = []
    for part in split_commands(command):
        description = _describe_program(part)
        if description and description not in shapes:
            shapes.append(description)
    return " && ".join(shapes[:_MAX_COMMANDS])


@lru_cache(maxsize=512)
def shape_call(command: str) -> str:
    """Return the programs and subcommands of a command line with the names of their options."""
    shapes: list[str] = []
    for part in split_commands(command):
        shape = _describe_call(part)
        if shape and shape not in shapes:
            shapes.append(shape)
    return " && ".join(shapes[:_MAX_COMMANDS])


@lru_cache(maxsize=512)
def list_parts(command: str) -> tuple[tuple[str, str], ...]:
    """Return the program of each command of a line, in lower case, and its shape with the names of its options."""
    parts = ((get_program(words[0]), _describe_call(words)) for words in split_commands(command))
    return tuple(dict.fromkeys(part for part in parts if part[1]))


def get_program(word: str) -> str:
    """Return the name of a program without its directory, in lower case."""
    return word.replace("\\", "/").rpartition("/")[2].lower()


def _describe_call(words: Sequence[str]) -> str:
    """Return the programs and subcommands of a command with the names of its options."""
    options = sorted({_OPTION.match(word)[0] for word in words[1:] if _OPTION.match(word)})  # type: ignore[index]
    return " ".join([_describe_program(words), *options[:_MAX_OPTIONS]]).strip()


@lru_cache(maxsize=4096)
def split_commands(command: str) -> tuple[tuple[str, ...], ...]:
    """Split a line into the words of its commands, without quoted values; of a pipe, keep the first command."""
    inner = _INNER.match(command)
    stripped = _QUOTED.sub(" <text> ", _HEREDOC.sub(" ", (inner[2] if inner else command)[:4000]))
    stripped = _ELSEWHERE.sub("git", stripped)
    commands_found: list[tuple[str, ...]] = []
    for part in _SPLIT.split(stripped.replace("\\\n", " ")):
        words = _strip_wrappers(part.split("|")[0])
        if words and words[0] not in _QUIET:
            commands_found.append(tuple(words))
    return tuple(commands_found)


def _strip_wrappers(part: str) -> list[str]:
    part = part.strip().lstrip("({ ")
    while match := _SETTING.match(part):
        part = part[match.end() :]
    words = part.split()
    while words and (
        words[0] in _WRAPPERS or (len(words[0]) < 6 and words[0].rstrip("sm").isdigit()) or words[0].startswith("-")
    ):
        words = words[1:]
    return words


def _describe_program(words: Sequence[str]) -> str:
    """Return the name of a program and its subcommand."""
    name = words[0].replace("\\", "/").rpartition("/")[2]
    rest = words[1:]
    if not re.fullmatch(r"[\w.+\[-]+", name):
        return ""
    if _MODULE.match(name):
        return _describe_python(rest)
    if name in _RUNNERS and (not _RUNNERS[name] or set(rest[:1]) & set(_RUNNERS[name])):
        inner_words = rest[len(_RUNNERS[name][:1]) :]
        while inner_words and inner_words[0].startswith("-"):
            inner_words = inner_words[1:]
        runner_words = " ".join([name, *rest[: len(_RUNNERS[name][:1])]])
        return f"{runner_words} {_describe_program(inner_words)}".strip() if inner_words else runner_words
    if name not in _DEPTH and name not in _NOISY and rest and rest[0] in _DEPTH:
        return f"{name} {_describe_program(rest)}"  # a wrapper that is not known
    return " ".join([name, *_find_subcommands(rest, _DEPTH.get(name, 0))])


def _find_subcommands(rest: Sequence[str], depth: int) -> list[str]:
    """Return the first words that are neither options nor arguments such as paths."""
    subcommands: list[str] = []
    for word in rest:
        if len(subcommands) >= depth or (subcommands and word.startswith("-")):
            break
        if word.startswith("-"):
            continue
        if not _SUBCOMMAND.fullmatch(word) or (subcommands and "." in word):
            break
        subcommands.append(word)
    return subcommands


def _describe_python(rest: Sequence[str]) -> str:
    if list(rest[:1]) == ["-m"] and len(rest) > 1:
        return f"python -m {rest[1]}"
    return "python -c" if list(rest[:1]) == ["-c"] else "python <script>"


def is_noise(command: str, exit_code: int | None, output: str) -> bool:
    """Check whether a failure means nothing: a search without matches, a comparison, or an expected failure."""
    if _HIDDEN.search(command) or not split_commands(command):
        return True
    last = split_commands(command)[-1][0].rpartition("/")[2]
    output_lines = [line for line in output.splitlines() if line.strip() and not line.lower().startswith("exit code")]
    if last in ("which", "type", "false"):
        return True
    if last in _NOISY and exit_code in (None, 1):
        return not any(f"{last}:" in line for line in output_lines)
    return last in _NOISY and not output_lines
