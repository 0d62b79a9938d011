"""An agent program as our child: in a group of its own that ends with it, its words bounded, its place ours."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
from typing import IO

from engram.errors import ModelInvalid, ModelRefused, ModelUnavailable
from engram.llm import guard
from engram.value import value

LARGEST = 4_000_000  # bytes of each stream
_LINGER = 2  # seconds to read what a killed group still had in its pipes
# What the session we run in told its own children; ours is no part of that session.
_NOT_OURS = ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_SSE_PORT", "ENGRAM_SESSION")


@value
class Said:
    """How a program ended and what it said."""

    status: int
    out: bytes
    err: bytes


def place(home: str) -> str:
    """Return the folder our children run in, within the home: capture takes what runs there for ours."""
    path = os.path.join(home, "model")
    os.makedirs(path, mode=0o700, exist_ok=True)
    return path


def program(provider: str, name: str) -> str:
    """Return where a program lies."""
    found = shutil.which(name)
    if found is None:
        hint = "Install it and log in, or choose another model."
        raise ModelRefused(provider=provider, reason=f"there is no program {name!r} on the PATH.", hint=hint)
    return found


def environment(**more: str) -> dict[str, str]:
    """Return our environment for a child, with the marker that keeps hooks and further calls away."""
    kept = {name: each for name, each in os.environ.items() if name not in _NOT_OURS}
    return {**kept, guard.MARKER: "1", **more}


def run(provider: str, argv: list[str], prompt: str, directory: str, env: dict[str, str], seconds: float) -> Said:
    """Run a program to its end, or end it and all it started when time is up."""
    try:
        process = subprocess.Popen(
            argv, cwd=directory, env=env, start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
    except OSError as problem:
        raise ModelRefused(provider=provider, reason=f"{argv[0]} does not start: {problem}.", hint="") from problem
    streams = _Streams(process, prompt.encode("utf-8", "replace_surrogate"))
    try:
        status = process.wait(max(seconds, 0.001))
    except subprocess.TimeoutExpired as late:
        reason = f"no answer within {seconds:.0f} s."
        raise ModelUnavailable(provider=provider, reason=reason, after=None, billed=True) from late
    finally:
        _end(process)
        streams.close()
    if streams.flooded:
        text = bytes(streams.out[:20_000]).decode("utf-8", "replace")
        raise ModelInvalid(provider=provider, reason=f"it is larger than {LARGEST:,} bytes.", reply_text=text)
    return Said(status=status, out=bytes(streams.out), err=bytes(streams.err))


class _Streams:
    """A child's three pipes, each served by a thread so that none can block the others."""

    def __init__(self, process: subprocess.Popen[bytes], prompt: bytes) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self.process, self.flooded = process, False
        self.out, self.err = bytearray(), bytearray()
        self._pipes = (process.stdin, process.stdout, process.stderr)
        tasks = ((self._write, (process.stdin, prompt)), (self._read, (process.stdout, self.out)),
                 (self._read, (process.stderr, self.err)))  # fmt: skip
        self._threads = [threading.Thread(target=act, args=given, daemon=True) for act, given in tasks]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Take in what is left once the child is gone."""
        for thread in self._threads:
            thread.join(_LINGER)
        for pipe, thread in zip(self._pipes, self._threads, strict=True):
            if not thread.is_alive():  # a pipe somebody else still holds is left to its thread
                _close(pipe)

    def _write(self, pipe: IO[bytes], prompt: bytes) -> None:
        try:
            pipe.write(prompt)
        except OSError:
            pass  # it did not want to hear it all
        _close(pipe)

    def _read(self, pipe: IO[bytes], into: bytearray) -> None:
        while piece := os.read(pipe.fileno(), 65_536):
            into += piece
            if len(into) > LARGEST:
                self.flooded = True
                _end(self.process)
                return


def _close(pipe: IO[bytes]) -> None:
    try:
        pipe.close()
    except OSError:
        pass


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a child and everything it started that stayed in its group."""
    try:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except (ProcessLookupError, PermissionError):
        pass  # nobody is left
    try:
        process.wait(_LINGER)
    except subprocess.TimeoutExpired:
        pass
