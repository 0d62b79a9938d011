"""Distribute in a process that kills itself at a given write: `python dying.py HOME NUMBER before|after [undo]`."""

from __future__ import annotations

import os
import signal
import sys

from engram import Engram

home, number, when, *undo = sys.argv[1:]
left = int(number)


def die(real: object) -> object:
    """Return a function that kills this process at the chosen write."""

    def call(*given: object) -> None:
        global left
        left -= 1
        if left == 0 and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        real(*given)  # type: ignore[operator]
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    return call


with Engram(home) as engram:
    os.replace = die(os.replace)  # type: ignore[assignment]
    os.unlink = die(os.unlink)  # type: ignore[assignment]
    engram.distribute(files=not undo, undo=bool(undo))
