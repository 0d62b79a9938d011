"""Compile in a process that kills itself before or after the n-th write to disk."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from engram.store import passages

STEPS = ("replace", "remove", "fsync", "unlink")


def main(home: str, number: int, after: bool) -> None:
    """Compile and die at a step; exit with 0 if there are fewer steps."""
    from engram import Engram

    with Engram(home) as hub:
        count = 0

        def watched(call: Callable[..., Any]) -> Callable[..., Any]:
            def step(*given: Any, **more: Any) -> Any:
                nonlocal count
                count += 1
                if count == number and not after:
                    os.kill(os.getpid(), signal.SIGKILL)
                result = call(*given, **more)
                if count == number:
                    os.kill(os.getpid(), signal.SIGKILL)
                return result

            return step

        for name in STEPS:
            setattr(os, name, watched(getattr(os, name)))
        setattr(passages, "put", watched(passages.save_parts))  # noqa: B010  what a checker takes for its own
        hub.compile()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3] == "after")
