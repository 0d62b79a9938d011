"""This machine and its processes: who runs us, and whether somebody still lives."""

from __future__ import annotations

import os
import sys

from engram.model import Process

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Programs that run an agent; the session belongs to them, not to the shell they started.
AGENTS = (
    "claude",
    "codex",
    "gemini",
    "grok",
    "opencode",
    "qwen",
    "copilot",
    "cursor",
    "aider",
    "amp",
    "goose",
    "cline",
)

_boot = ""
_FAR = 40  # more ancestors than any real process has


def name() -> str:
    """Return this machine's name."""
    if sys.platform == "win32":
        return os.environ.get("COMPUTERNAME", "")
    return os.uname().nodename


def directory() -> str | None:
    """Return the directory we run in, if it still exists."""
    try:
        return os.getcwd()
    except OSError:  # a worktree may be removed under a running agent
        return None


def boot() -> str:
    """Return what tells this boot, and this container, from any other; empty where nothing does."""
    global _boot
    if not _boot:
        boot_id = _read("/proc/sys/kernel/random/boot_id")
        _boot = f"{_read('/etc/machine-id')}/{boot_id}/{_namespace()}" if boot_id else ""
    return _boot


def process(pid: int) -> Process | None:
    """Describe a process that lives on this machine now."""
    start = _start(pid)
    return Process(host=name(), pid=pid, start=f"{boot()}/{start}") if start else None


def alive(known: Process) -> bool | None:
    """Tell whether a process still lives; None when this machine cannot know."""
    if known.host != name():
        return None
    then, _, start = known.start.rpartition("/")
    if then == boot():
        return _start(known.pid) == start
    machine, boot_id, _ = (*then.split("/"), "", "", "")[:3]
    here, now, _ = (*boot().split("/"), "", "", "")[:3]
    restarted = bool(machine) and machine == here and boot_id != now
    return False if restarted else None  # another machine's or container's pids mean nothing here


def ancestors() -> Iterator[Process]:
    """Yield the processes above us, nearest first."""
    pid = os.getppid()
    for _ in range(_FAR):
        found = process(pid) if pid > 1 else None
        if found is None:
            return
        yield found
        pid = _parent(pid)


def agent() -> tuple[Process, str] | None:
    """Return the agent process we run under, and its flavor."""
    for ancestor in ancestors():
        flavor = flavor_of(_command(ancestor.pid))
        if flavor:
            return ancestor, flavor
    return None


def flavor_of(command: list[str]) -> str | None:
    """Tell which agent a command line is: by its program, or by the package of the script it runs."""
    words = [word for n, word in enumerate(command[:9]) if n == 0 or not word.startswith("-")]
    program, *rest = (word.replace("\\", "/").lower().split("/") for word in words[:2])
    runs_script = program[-1].rstrip("0123456789.") in ("node", "bun", "deno", "python")
    script = rest[0] if rest and runs_script else [""]
    package = script[script.index("node_modules") + 1 :] if "node_modules" in script else []
    for part in (program[-1], script[-1], *package):
        stem = part
        for suffix in (".js", ".exe", "-code", "-cli", "-ai", "-agent"):
            stem = stem.removesuffix(suffix)
        if stem in AGENTS:
            return stem
    return None


def _start(pid: int) -> str:
    if sys.platform == "linux":
        stat = _stat(pid)
        # A zombie has ended already; its parent has merely not looked.
        return stat[19] if len(stat) > 19 and stat[0] not in ("Z", "X") else ""
    if sys.platform == "win32":
        return ""  # os.kill would end it there; sessions on Windows live by their heartbeat alone
    try:
        os.kill(pid, 0)
    except PermissionError:
        return "running"
    except OSError:
        return ""
    return "running"


def _parent(pid: int) -> int:
    stat = _stat(pid)
    return int(stat[1]) if len(stat) > 1 else 0


def _stat(pid: int) -> list[str]:
    """Return the fields after the program's name, which may itself hold blanks and brackets."""
    return _read(f"/proc/{pid}/stat").rpartition(") ")[2].split()


def _command(pid: int) -> list[str]:
    return _read(f"/proc/{pid}/cmdline").split("\0")


def _namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def _read(path: str) -> str:
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return ""
    try:
        return os.read(handle, 65536).decode("utf-8", "replace").strip()
    except OSError:  # the process ended between the two calls
        return ""
    finally:
        os.close(handle)
