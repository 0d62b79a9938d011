"""Idle priority: a dream takes only what nobody else wants."""

from __future__ import annotations

import os
import sys

_IOPRIO_SET = {"x86_64": 251, "aarch64": 30}  # the system call that C libraries do not offer
_IO_IDLE = 3 << 13
_WINDOWS_IDLE = 0x40


def idle() -> None:
    """Put this process, and what it starts, behind all others; where that cannot be done, leave it as it is."""
    for step in (_nice, _processor, _disk, _windows):
        try:
            step()
        except Exception:  # noqa: S112  a system that does not know it, or does not let us
            continue


def _nice() -> None:
    os.nice(19)


def _processor() -> None:
    if sys.platform == "linux":
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def _disk() -> None:
    number = _IOPRIO_SET.get(os.uname().machine)
    if sys.platform == "linux" and number is not None:
        import ctypes

        ctypes.CDLL(None).syscall(number, 1, 0, _IO_IDLE)


def _windows() -> None:
    if os.name == "nt":
        import ctypes

        kernel = ctypes.windll.kernel32  # type: ignore[attr-defined]
        kernel.SetPriorityClass(kernel.GetCurrentProcess(), _WINDOWS_IDLE)
