"""Idle priority: a dream steps back behind all others.

By niceness only. A process that gets no time at all while it holds the store's write lock makes everybody wait: with
idle scheduling the longest wait for that lock was ten times as long on a busy machine.
"""

from __future__ import annotations

import os
import sys

_IOPRIO_SET = {"x86_64": 251, "aarch64": 30}  # the system call that C libraries do not offer
_IO_LAST = 2 << 13 | 7  # the last of those that are served
_WINDOWS_BELOW = 0x4000


def idle() -> None:
    """Put this process, and what it starts, behind all others; where that cannot be done, leave it as it is."""
    for step in (_nice, _disk, _windows):
        try:
            step()
        except Exception:  # noqa: S112  a system that does not know it, or does not let us
            continue


def _nice() -> None:
    os.nice(19)


def _disk() -> None:
    number = _IOPRIO_SET.get(os.uname().machine)
    if sys.platform == "linux" and number is not None:
        import ctypes

        ctypes.CDLL(None).syscall(number, 1, 0, _IO_LAST)


def _windows() -> None:
    if os.name == "nt":
        import ctypes

        kernel = ctypes.windll.kernel32  # type: ignore[attr-defined]
        kernel.SetPriorityClass(kernel.GetCurrentProcess(), _WINDOWS_BELOW)
