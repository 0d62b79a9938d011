"""This machine and its processes: who runs us, and whether a process is alive."""

from __future__ import annotations

import os
import sys

from engram.platform.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_boot_id = ""
_MOST_ANCESTORS = 40  # more than any real process has


@value
class Process:
    """A process on a host; the start time tells it from a later one with the same pid."""

    host: str
    pid: int
    start: str


def get_host_name() -> str:
    """Return this machine's name."""
    if sys.platform == "win32":
        return os.environ.get("COMPUTERNAME", "")
    return os.uname().nodename


def get_working_directory() -> str | None:
    """Return our working directory, or None if it no longer exists."""
    try:
        return os.getcwd()
    except OSError:  # a worktree may be removed while an agent runs in it
        return None


def get_boot_id() -> str:
    """Return an id of this boot and container, or "" if the system has none."""
    global _boot_id
    if not _boot_id:
        boot_id = _read_text("/proc/sys/kernel/random/boot_id")
        _boot_id = f"{_read_text('/etc/machine-id')}/{boot_id}/{_read_pid_namespace()}" if boot_id else ""
    return _boot_id


def find_process(pid: int) -> Process | None:
    """Return a process running on this machine, or None."""
    start = _read_start_time(pid)
    return Process(host=get_host_name(), pid=pid, start=f"{get_boot_id()}/{start}") if start else None


def is_alive(process: Process) -> bool | None:
    """Return whether a process is alive, or None if this machine cannot tell."""
    if process.host != get_host_name():
        return None
    then, _, start = process.start.rpartition("/")
    if then == get_boot_id():
        return _read_start_time(process.pid) == start
    machine, boot_id, _ = (*then.split("/"), "", "", "")[:3]
    own_machine, own_boot, _ = (*get_boot_id().split("/"), "", "", "")[:3]
    restarted = bool(machine) and machine == own_machine and boot_id != own_boot
    return False if restarted else None  # pids of another machine or container mean nothing here


def list_ancestors() -> Iterator[Process]:
    """Yield our ancestor processes, nearest first."""
    pid = os.getppid()
    for _ in range(_MOST_ANCESTORS):
        ancestor = find_process(pid) if pid > 1 else None
        if ancestor is None:
            return
        yield ancestor
        pid = _read_parent_pid(pid)


def _read_start_time(pid: int) -> str:
    if sys.platform == "linux":
        stat = _read_stat_fields(pid)
        # A zombie has ended; its parent has just not collected it yet.
        return stat[19] if len(stat) > 19 and stat[0] not in ("Z", "X") else ""
    if sys.platform == "win32":
        return ""  # os.kill would end the process; on Windows only heartbeats show that a session is alive
    try:
        os.kill(pid, 0)
    except PermissionError:
        return "running"
    except OSError:
        return ""
    return "running"


def _read_parent_pid(pid: int) -> int:
    stat = _read_stat_fields(pid)
    return int(stat[1]) if len(stat) > 1 else 0


def _read_stat_fields(pid: int) -> list[str]:
    """Return the fields after the program's name, which may itself contain spaces and brackets."""
    return _read_text(f"/proc/{pid}/stat").rpartition(") ")[2].split()


def command_line(pid: int) -> list[str]:
    """Return the arguments of a process."""
    return _read_text(f"/proc/{pid}/cmdline").split("\0")


def _read_pid_namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def _read_text(path: str) -> str:
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


def choose_command(name: str, path: str) -> str:
    """Return the name of a command if a shell finds it, else its path if there is such a file."""
    folders = os.environ.get("PATH", "").split(os.pathsep)
    is_found = any(os.access(os.path.join(folder, name), os.X_OK) for folder in folders if folder)
    return name if is_found or not os.access(path, os.X_OK) else path
