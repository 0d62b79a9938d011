"""The shape of a shell command: which programs it runs and what they are told to do. Pure."""

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
# How many words after its name say what a program does; of those not named here, none.
_DEPTH = {
    "git": 1, "npm": 2, "pnpm": 2, "yarn": 2, "bun": 2, "deno": 2, "cargo": 1, "go": 1, "docker": 2, "kubectl": 1,
    "gh": 2, "uv": 2, "poetry": 1, "pip": 1, "pip3": 1, "make": 1, "just": 1, "mise": 2, "task": 1, "dotnet": 1,
    "gradle": 1, "gradlew": 1, "mvn": 1, "terraform": 1, "brew": 1, "apt": 1, "apt-get": 1, "systemctl": 1, "helm": 1,
    "ruff": 1, "ty": 1, "biome": 1, "mix": 1, "bundle": 1, "rails": 1, "aws": 2, "gcloud": 3, "nix": 1, "bazel": 1,
    "swift": 1, "flutter": 1, "rustup": 1, "conda": 1, "hatch": 2, "playwright": 1, "manage.py": 1,
}  # fmt: skip
# What these start says more than they do.
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
_MOST = 3  # commands of one line that count


@lru_cache(maxsize=4096)
def shape(command: str) -> str:
    """Return what a command line does without what it does it to."""
    found: list[str] = []
    for part in parts(command):
        told = _told(part)
        if told and told not in found:
            found.append(told)
    return " && ".join(found[:_MOST])


@lru_cache(maxsize=4096)
def parts(command: str) -> tuple[tuple[str, ...], ...]:
    """Return the words of each command of a line, quoted values left out, only the head of each pipe."""
    inner = _INNER.match(command)
    bare = _QUOTED.sub(" <text> ", _HEREDOC.sub(" ", (inner[2] if inner else command)[:4000]))
    bare = _ELSEWHERE.sub("git", bare)
    found: list[tuple[str, ...]] = []
    for part in _SPLIT.split(bare.replace("\\\n", " ")):
        words = _words(part.split("|")[0])
        if words and words[0] not in _QUIET:
            found.append(tuple(words))
    return tuple(found)


def _words(part: str) -> list[str]:
    part = part.strip().lstrip("({ ")
    while match := _SETTING.match(part):
        part = part[match.end() :]
    words = part.split()
    while words and (
        words[0] in _WRAPPERS or (len(words[0]) < 6 and words[0].rstrip("sm").isdigit()) or words[0].startswith("-")
    ):
        words = words[1:]
    return words


def _told(words: Sequence[str]) -> str:
    """Return the name of a program and the words that say what it does."""
    name = words[0].replace("\\", "/").rpartition("/")[2]
    rest = words[1:]
    if not re.fullmatch(r"[\w.+\[-]+", name):
        return ""
    if _MODULE.match(name):
        return _python(rest)
    if name in _RUNNERS and (not _RUNNERS[name] or set(rest[:1]) & set(_RUNNERS[name])):
        started = rest[len(_RUNNERS[name][:1]) :]
        while started and started[0].startswith("-"):
            started = started[1:]
        lead = " ".join([name, *rest[: len(_RUNNERS[name][:1])]])
        return f"{lead} {_told(started)}".strip() if started else lead
    return " ".join([name, *_subcommands(rest, _DEPTH.get(name, 0))])


def _subcommands(rest: Sequence[str], depth: int) -> list[str]:
    """Return the first words that are neither options nor things."""
    kept: list[str] = []
    for word in rest:
        if len(kept) >= depth or (kept and word.startswith("-")):
            break
        if word.startswith("-"):
            continue
        if not _SUBCOMMAND.fullmatch(word) or (kept and "." in word):
            break
        kept.append(word)
    return kept


def _python(rest: Sequence[str]) -> str:
    if list(rest[:1]) == ["-m"] and len(rest) > 1:
        return f"python -m {rest[1]}"
    return "python -c" if list(rest[:1]) == ["-c"] else "python <script>"


def is_noise(command: str, exit_code: int | None, output: str) -> bool:
    """Tell whether a failure says nothing: a search that found nothing, a comparison, a failure that was meant."""
    if _HIDDEN.search(command) or not parts(command):
        return True
    last = parts(command)[-1][0].rpartition("/")[2]
    said = [line for line in output.splitlines() if line.strip() and not line.lower().startswith("exit code")]
    if last in ("which", "type", "false"):
        return True
    if last in _NOISY and exit_code in (None, 1):
        return not any(f"{last}:" in line for line in said)
    return last in _NOISY and not said
