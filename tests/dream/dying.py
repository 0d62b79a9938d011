"""Dream in a process that kills itself just before its n-th write.

A child process imports everything once and forks for each death. An uninterrupted pass shows which writes there are,
and in which step.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any

from engram import Engram
from engram.dream import journal
from engram.dream.cycle import run_pass
from engram.dream.results import FORCED
from tests.conftest import ManualClock

ON_DISK = ("replace", "rename", "remove", "unlink", "fsync", "utime")
BEGIN, END = "begin", "end"


class Traces:
    """All writes of a pass in order, with the step and kind of each."""

    def __init__(self, fatal: int) -> None:
        self.fatal = fatal
        self.step, self.left = BEGIN, list[tuple[str, str]]()

    def leave(self, how: str, call: Callable[..., Any], *given: Any, **more: Any) -> Any:
        """Do a write, or die before it."""
        self.left.append((self.step, how))
        if len(self.left) == self.fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*given, **more)

    def watched(self, how: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that counts as a write."""
        return lambda *given, **more: self.leave(how, call, *given, **more)

    def told(self, step: str) -> None:
        """Record the current step."""
        self.step = step


class Transaction:
    """A transaction whose commit counts as a write; nested ones do not count."""

    depth = 0

    def __init__(self, traces: Traces, inner: Any) -> None:
        self.traces, self.inner = traces, inner

    def __enter__(self) -> Any:
        result = self.inner.__enter__()
        Transaction.depth += 1
        return result

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        Transaction.depth -= 1
        if Transaction.depth:
            self.inner.__exit__(kind, error, trace)
        else:
            self.traces.leave("commit", self.inner.__exit__, kind, error, trace)


def watched(hub: Engram, traces: Traces) -> None:
    """Count everything written through a hub and to disk."""
    begin = hub.engine.transaction
    setattr(hub.engine, "transaction", lambda **how: Transaction(traces, begin(**how)))  # noqa: B010
    for name in ON_DISK:
        setattr(os, name, traces.watched(name, getattr(os, name)))


def dream(hub: Engram, traces: Traces) -> None:
    """Run a forced pass."""
    ended = journal.end_pass

    def end(*given: Any) -> None:
        traces.told(END)
        ended(*given)

    setattr(journal, "end_pass", end)  # noqa: B010  what a checker takes for its own
    run_pass(hub, force=True, why=FORCED, on_step=traces.told)


def tend(hub: Engram, traces: Traces) -> None:
    """Run a pass that does what is due, without scanning the transcripts again."""
    run_pass(hub, on_step=traces.told)


def undo(hub: Engram, _: Traces) -> None:
    """Undo the first pass."""
    hub.undo_dream(1)


def acted(verb: str, home: str, store: str, wall: int, fatal: int) -> list[tuple[str, str]]:
    """Do something at a time chosen by the test, and die or return its writes."""
    clock, traces = ManualClock(), Traces(fatal)
    clock.wall = wall
    with Engram(home=home, store=store, clock=clock) as hub:
        watched(hub, traces)
        {"dream": dream, "tend": tend, "undo": undo}[verb](hub, traces)
    return traces.left


def main() -> None:
    """Read orders as lines of JSON: action, home, store, time and the write to die at (0: none)."""
    for line in sys.stdin:
        reads, writes = os.pipe()
        child = os.fork()
        if not child:
            os.write(writes, json.dumps(acted(*json.loads(line))).encode())
            os._exit(0)
        os.close(writes)
        with open(reads, "rb") as pipe:
            result = pipe.read()
        print(json.dumps({"status": os.waitpid(child, 0)[1], "left": json.loads(result or b"[]")}), flush=True)


if __name__ == "__main__":
    main()
