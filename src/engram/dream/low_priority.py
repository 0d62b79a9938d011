"""Low priority: the dream yields to all other processes.

It uses niceness only. A process that gets no CPU time while it holds the store's write lock blocks everyone: with idle
scheduling the longest wait for that lock was ten times as long on a busy machine.
"""

from __future__ import annotations

import os
import sys

_IOPRIO_SET = {"x86_64": 251, "aarch64": 30}  # a system call that C libraries do not wrap
_IO_LAST = 2 << 13 | 7  # lowest best-effort priority
_WINDOWS_BELOW = 0x4000


def lower_priority() -> None:
    """Lower the priority of this process and its children, if possible."""
    for step in (_lower_cpu_priority, _lower_disk_priority, _lower_windows_priority):
        try:
            step()
        except Exception:  # noqa: S112  a system that does not know it, or does not let us
            continue


def _lower_cpu_priority() -> None:
    os.nice(19)


def _lower_disk_priority() -> None:
    number = _IOPRIO_SET.get(os.uname().machine)
    if sys.platform == "linux" and number is not None:
        import ctypes

        ctypes.CDLL(None).syscall(number, 1, 0, _IO_LAST)


def _lower_windows_priority() -> None:
    if os.name == "nt":
        import ctypes

        kernel = ctypes.windll.kernel32  # type: ignore[attr-defined]
        kernel.SetPriorityClass(kernel.GetCurrentProcess(), _WINDOWS_BELOW)
