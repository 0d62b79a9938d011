"""The command line: one command per operation, built from its signature; the others are in modules of their own."""

from __future__ import annotations

import errno
import os
import sys


def main() -> int:
    """Run the command line and return its exit status; files it writes are readable by their owner only."""
    os.umask(0o077)
    try:
        status = _run_command()
        sys.stdout.flush()
    except BrokenPipeError:
        return _abandon_output(0)  # the reader has seen enough
    except OSError as problem:
        if problem.errno != errno.ENOSPC:
            raise
        print(f"engram: cannot write the output: {problem.strerror}", file=sys.stderr)
        return _abandon_output(1)
    return status


def _run_command() -> int:
    from engram.surfaces.cli.quick import run_quickly

    status = run_quickly(sys.argv[1:])
    if status is not None:
        return status
    from engram.surfaces.cli.root_group import build_command_line

    try:
        build_command_line()(prog_name="engram")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def _abandon_output(status: int) -> int:
    """Keep the interpreter from flushing the rest at exit: that would fail again, with a traceback."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status
