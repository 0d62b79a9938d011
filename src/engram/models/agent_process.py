"""Run an agent program as a child process: in its own process group, with bounded output and our working directory."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
from typing import IO

from engram.errors import ModelInvalid, ModelRefused, ModelUnavailable
from engram.models import reentry_guard
from engram.platform.value import value

LARGEST = 4_000_000  # bytes of each stream
_LINGER = 2  # seconds to drain the pipes of a killed group
# Variables of the session we run in; our child is not part of that session.
_NOT_OURS = ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_SSE_PORT", "ENGRAM_SESSION")


@value
class ProcessOutput:
    """The exit status and output of a program."""

    status: int
    out: bytes
    err: bytes


def ensure_work_folder(home: str) -> str:
    """Return the working directory of our children, inside the home: capture recognizes them by it."""
    path = os.path.join(home, "model")
    os.makedirs(path, mode=0o700, exist_ok=True)
    return path


def find_program(provider: str, name: str) -> str:
    """Return the path of a program."""
    path = shutil.which(name)
    if path is None:
        hint = "Install it and log in, or choose another model."
        raise ModelRefused(provider=provider, reason=f"program {name!r} is not on the PATH.", hint=hint)
    return path


def build_environment(**extra: str) -> dict[str, str]:
    """Return our environment for a child, with a marker that disables hooks and further model calls."""
    inherited = {name: setting for name, setting in os.environ.items() if name not in _NOT_OURS}
    return {**inherited, reentry_guard.MARKER: "1", **extra}


def run_program(
    provider: str, argv: list[str], prompt: str, directory: str, env: dict[str, str], seconds: float
) -> ProcessOutput:
    """Run a program to its end; when time is up, kill it and everything it started."""
    try:
        process = subprocess.Popen(
            argv, cwd=directory, env=env, start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
    except OSError as problem:
        raise ModelRefused(provider=provider, reason=f"{argv[0]} failed to start: {problem}.", hint="") from problem
    streams = _Streams(process, prompt.encode("utf-8", "replace_surrogate"))
    try:
        status = process.wait(max(seconds, 0.001))
    except subprocess.TimeoutExpired as late:
        reason = f"no answer within {seconds:.0f} s."
        raise ModelUnavailable(provider=provider, reason=reason, after=None, billed=True) from late
    finally:
        _kill_group(process)
        streams.close()
    if streams.flooded:
        text = bytes(streams.out[:20_000]).decode("utf-8", "replace")
        raise ModelInvalid(provider=provider, reason=f"the answer is larger than {LARGEST:,} bytes.", reply_text=text)
    return ProcessOutput(status=status, out=bytes(streams.out), err=bytes(streams.err))


class _Streams:
    """A child's three pipes, each served by a thread so that none can block the others."""

    def __init__(self, process: subprocess.Popen[bytes], prompt: bytes) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self.process, self.flooded = process, False
        self.out, self.err = bytearray(), bytearray()
        self._pipes = (process.stdin, process.stdout, process.stderr)
        tasks = ((self._write_prompt, (process.stdin, prompt)), (self._read_pipe, (process.stdout, self.out)),
                 (self._read_pipe, (process.stderr, self.err)))  # fmt: skip
        self._threads = [threading.Thread(target=target, args=arguments, daemon=True) for target, arguments in tasks]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Read what is left after the child has exited."""
        for thread in self._threads:
            thread.join(_LINGER)
        for pipe, thread in zip(self._pipes, self._threads, strict=True):
            if not thread.is_alive():  # a pipe that another process still holds is left to its thread
                _close_pipe(pipe)

    def _write_prompt(self, pipe: IO[bytes], prompt: bytes) -> None:
        try:
            pipe.write(prompt)
        except OSError:
            pass  # the child closed its input early
        _close_pipe(pipe)

    def _read_pipe(self, pipe: IO[bytes], buffer: bytearray) -> None:
        while chunk := os.read(pipe.fileno(), 65_536):
            buffer += chunk
            if len(buffer) > LARGEST:
                self.flooded = True
                _kill_group(self.process)
                return


def _close_pipe(pipe: IO[bytes]) -> None:
    try:
        pipe.close()
    except OSError:
        pass


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a child and everything it started in its process group."""
    try:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except (ProcessLookupError, PermissionError):
        pass  # no process is left
    try:
        process.wait(_LINGER)
    except subprocess.TimeoutExpired:
        pass
