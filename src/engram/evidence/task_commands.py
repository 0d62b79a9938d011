"""Find the commands by which a project is set up, built, tested, linted, run and released. Pure."""

from __future__ import annotations

import re
from functools import lru_cache

from engram.evidence import purposes
from engram.evidence.command_line import ProgramRun, parse_command
from engram.platform.value import value

SETUP, BUILD, TEST, LINT, RUN, RELEASE = "setup", "build", "test", "lint", "run", "release"
PURPOSES = (SETUP, BUILD, TEST, LINT, RUN, RELEASE)

_LONGEST = 160  # characters of a command that is worth repeating
_PACKAGE_MANAGERS = frozenset("npm pnpm yarn bun pip pip3 uv poetry pdm hatch bundle composer mix cargo".split())
_SETUP_WORDS = frozenset(("install", "ci", "sync", "i", "restore", "deps.get", "fetch"))
_SETUP_RUNS = frozenset(  # program and subcommand
    ("go mod", "mise install", "pre-commit install", "dotnet restore", "rustup component", "asdf install", "npm ci")
)
_RUN_RUNS = frozenset(("go run", "cargo run", "dotnet run", "flask run", "docker compose", "rails server", "swift run"))
_RUN_TASK = re.compile(r"^(?:dev|start|serve|run|preview|watch|up)(?:$|[:_\-])")
_RELEASE_RUNS = frozenset(
    (
        "npm publish", "pnpm publish", "yarn publish", "cargo publish", "twine upload", "uv publish", "poetry publish",
        "goreleaser release", "docker push", "terraform apply", "kubectl apply", "fly deploy",
        "vercel deploy", "wrangler deploy", "helm upgrade",
    )
)  # fmt: skip
_RELEASE_TASK = re.compile(r"^(?:release|publish|deploy|ship)(?:$|[:_\-])")
_TASK_RUNNERS = frozenset("npm pnpm yarn bun mise make gmake just task rake gradle gradlew nx turbo invoke".split())
_LOOK_UPS = frozenset(("command", "which", "type"))
_RUN_WORDS = frozenset(("run", "run-script", "exec", "x"))
# Options that only change how much is printed, or how often something is run.
_NOISE = re.compile(
    r"^(?:-v+|-q+|-s|-x|--verbose|--quiet|--silent|--no-color|--color(?:=\S+)?|--tb=\S+|-count=\d+|--no-header|"
    r"-timeout=?\S*|--bail|--reporter=\S+|-p=\d+|-rA|--no-cov|--ci|--watchAll=false|--run|--progress=\S+|-json|"
    r"--no-fund|--no-audit|--passWithNoTests|--maxWorkers=\S+|-j\d*|--output-format=\S+|--no-pager)$"
)
_ENVIRONMENT = re.compile(r"^\w+=")
_SUBSTITUTED = re.compile(r"[$`<>{}*]|\\")  # what only the shell of that moment knows
_WHOLE = re.compile(r"^(?:\.|\.\.\.|\.{1,2}/\.\.\.|tests?|src|spec|lib|app|packages|all)$")
_FILE = re.compile(r"^[^-].*\w\.[A-Za-z]\w{0,4}(?:::.*)?$")
_DRIVE = re.compile(r"^(?:([A-Za-z]):|/(?:mnt/)?([A-Za-z]))(?=/|$)")
_WORKTREE = re.compile(r"^\.(?:\w+/)?worktrees/[^/]+/")
_ONLY_HERE = re.compile(r"(?:^|[/\\=])(?:tmp|temp|scratchpad|var/folders)[/\\]|^[A-Za-z]:[/\\]", re.IGNORECASE)


@value
class TaskRun:
    """A command that serves a project, as it was typed."""

    purpose: str
    command: str
    directory: str  # where it ran, as the line says by `cd`; "" if it does not
    is_whole: bool  # not limited to some files or tests
    status: str  # as in ProgramRun


@lru_cache(maxsize=256)
def list_task_runs(line: str) -> tuple[TaskRun, ...]:
    """Return the commands of a line that set up, build, test, lint, run or release a project."""
    directory = ""
    found: list[TaskRun] = []
    for run in parse_command(line):
        if run.words[0] == "cd":
            directory = run.words[1] if len(run.words) > 1 else ""
            continue
        purpose = _name_purpose(run) if run.typed[0] not in _LOOK_UPS else ""
        task = _build_task(run, purpose, directory) if purpose else None
        if task is not None and all(task.command != other.command for other in found):
            found.append(task)
    return tuple(found)


def is_repeatable(command: str) -> bool:
    """Return whether a command could be run again in another session: it names no scratch file and fits a line."""
    return "\n" not in command and len(command) <= _LONGEST and not any(map(_ONLY_HERE.search, command.split()))


def locate(directory: str, cwd: str) -> str | None:
    """Return a directory that a command names, relative to that of its session; None if it is elsewhere."""
    path, base = _unify(directory), _unify(cwd)
    if not path or path == base:
        return ""
    if path.startswith(f"{base}/"):
        path = path[len(base) + 1 :]
    elif path.startswith(("/", "~", "..")) or ":" in path:
        return None
    path = _WORKTREE.sub("", f"{path}/").strip("/")
    return None if _SUBSTITUTED.search(path) or _ONLY_HERE.search(f"{path}/") else path.removeprefix("./")


def _unify(path: str) -> str:
    """Return a path with slashes; `D:\\x`, `/d/x` and `/mnt/d/x` are one."""
    path = path.replace("\\", "/").rstrip("/")
    drive = _DRIVE.match(path)
    return f"{(drive[1] or drive[2]).lower()}:{path[drive.end() :]}" if drive else path


def _build_task(run: ProgramRun, purpose: str, directory: str) -> TaskRun | None:
    words = [word for word in run.typed if not _NOISE.match(word)]
    command = " ".join(map(_quote, words))
    if not words or len(command) > _LONGEST or "\n" in command:
        return None
    arguments = [word for word in words if not _ENVIRONMENT.match(word)]
    if any(_SUBSTITUTED.search(word) or _ONLY_HERE.search(word) for word in arguments):
        return None
    return TaskRun(
        purpose=purpose, command=command, directory=directory, is_whole=_is_whole(run, purpose), status=run.status
    )


def _quote(word: str) -> str:
    return word if re.fullmatch(r"[\w@%+=:,./~^-]+", word) else "'" + word.replace("'", "'\\''") + "'"


def _is_whole(run: ProgramRun, purpose: str) -> bool:
    """Return whether a run is about the whole project, not about some files or tests."""
    if purpose not in (TEST, BUILD, LINT):
        return True
    if purposes.list_filters(run) or any(word.startswith(("-run=", "--grep=", "-k=")) for word in run.words):
        return False
    if any(_FILE.match(word) for word in run.words[1:]):
        return False
    return all(_WHOLE.match(target) for target in purposes.list_targets(run))


def _name_purpose(run: ProgramRun) -> str:
    named = purposes.name_purpose(run.words)
    if named in (TEST, BUILD, LINT):
        return named
    if named:
        return ""
    name, arguments = run.words[0], [word for word in run.words[1:] if not word.startswith("-")]
    pair = f"{name} {arguments[0]}" if arguments else name
    if name in _TASK_RUNNERS:
        task = next((word for word in arguments if word not in _RUN_WORDS), "").lower()
        if _RELEASE_TASK.match(task):
            return RELEASE
        if _RUN_TASK.match(task):
            return RUN
    if pair in _RELEASE_RUNS or (pair == "gh release" and arguments[1:2] in (["create"], ["upload"])):
        return RELEASE
    if pair in _RUN_RUNS:
        return RUN
    return SETUP if _is_setup(name, arguments, pair) else ""


def _is_setup(name: str, arguments: list[str], pair: str) -> bool:
    """Return whether a command installs what a project needs, not one package more."""
    if pair == "go mod":
        return arguments[1:2] in (["download"], ["tidy"])
    if pair in _SETUP_RUNS:
        return True
    if name not in _PACKAGE_MANAGERS or not arguments or arguments[0] not in _SETUP_WORDS:
        return False
    given = arguments[1:]
    is_project = all(word.startswith((".", "requirements")) or word.endswith((".txt", ".toml")) for word in given)
    return is_project and (bool(given) or name not in ("pip", "pip3", "cargo"))
