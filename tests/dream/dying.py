"""Dream in a process that kills itself just before the n-th trace it would leave, which is just after the one before.

A process of its own imports everything once and forks for each death. Which traces a pass leaves, and in which step,
is found out by living through one.
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
from engram.dream.cycle import dreamt
from engram.dream.done import FORCED
from tests.conftest import ManualClock

ON_DISK = ("replace", "rename", "remove", "unlink", "fsync", "utime")
BEGIN, END = "begin", "end"


class Traces:
    """Every trace a pass leaves, in order: which step left it, and how."""

    def __init__(self, fatal: int) -> None:
        self.fatal = fatal
        self.step, self.left = BEGIN, list[tuple[str, str]]()

    def leave(self, how: str, call: Callable[..., Any], *given: Any, **more: Any) -> Any:
        """Do what leaves a trace, or die before it."""
        self.left.append((self.step, how))
        if len(self.left) == self.fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*given, **more)

    def watched(self, how: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return a call that leaves a trace each time."""
        return lambda *given, **more: self.leave(how, call, *given, **more)

    def told(self, step: str) -> None:
        """Note which step is at work."""
        self.step = step


class Transaction:
    """A transaction whose end is a trace; one inside another is none of its own."""

    depth = 0

    def __init__(self, traces: Traces, inner: Any) -> None:
        self.traces, self.inner = traces, inner

    def __enter__(self) -> Any:
        found = self.inner.__enter__()
        Transaction.depth += 1
        return found

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        Transaction.depth -= 1
        if Transaction.depth:
            self.inner.__exit__(kind, error, trace)
        else:
            self.traces.leave("commit", self.inner.__exit__, kind, error, trace)


def watched(hub: Engram, traces: Traces) -> None:
    """Let all that is written through a hub, and to disk, leave traces."""
    begin = hub.engine.transaction
    setattr(hub.engine, "transaction", lambda **how: Transaction(traces, begin(**how)))  # noqa: B010
    for name in ON_DISK:
        setattr(os, name, traces.watched(name, getattr(os, name)))


def dream(hub: Engram, traces: Traces) -> None:
    """Make a forced pass."""
    ended = journal.end

    def end(*given: Any) -> None:
        traces.told(END)
        ended(*given)

    setattr(journal, "end", end)  # noqa: B010  what a checker takes for its own
    dreamt(hub, force=True, why=FORCED, told=traces.told)


def tend(hub: Engram, traces: Traces) -> None:
    """Make a pass that does what is due, and does not look at the transcripts again."""
    dreamt(hub, told=traces.told)


def undo(hub: Engram, _: Traces) -> None:
    """Undo the first pass."""
    hub.undo_dream(1)


def acted(verb: str, home: str, store: str, wall: int, fatal: int) -> list[tuple[str, str]]:
    """Do something at a time of the test's choice, and die or return the traces it left."""
    clock, traces = ManualClock(), Traces(fatal)
    clock.wall = wall
    with Engram(home=home, store=store, clock=clock) as hub:
        watched(hub, traces)
        {"dream": dream, "tend": tend, "undo": undo}[verb](hub, traces)
    return traces.left


def main() -> None:
    """Take orders, a line of JSON each: what to do, in which home and store, when, where to die (0: nowhere)."""
    for line in sys.stdin:
        reads, writes = os.pipe()
        child = os.fork()
        if not child:
            os.write(writes, json.dumps(acted(*json.loads(line))).encode())
            os._exit(0)
        os.close(writes)
        with open(reads, "rb") as pipe:
            told = pipe.read()
        print(json.dumps({"status": os.waitpid(child, 0)[1], "left": json.loads(told or b"[]")}), flush=True)


if __name__ == "__main__":
    main()
