"""One at a time on a machine: a file lock, free again when its process ends however it ends."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import IO

from engram.errors import Error, StoreReadOnly, SweepRunning


class Turn:
    """The right to sweep, or to do what another file stands for; taken by the first, refused to the second."""

    def __init__(self, home: str, name: str = "sweep.lock", refusal: type[Error] = SweepRunning) -> None:
        self._path = os.path.join(home, name)
        self._refusal = refusal
        self._file: IO[str] | None = None

    def __enter__(self) -> Turn:
        file = _opened(self._path)
        if not _locked(file):
            file.seek(0)
            pid = file.read().strip()
            file.close()
            raise self._refusal(pid=int(pid) if pid.isdigit() else 0)
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        self._file = file
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()


def _opened(path: str) -> IO[str]:
    directory = os.path.dirname(path)
    try:
        os.makedirs(directory, mode=0o700, exist_ok=True)
        return open(path, "a+", encoding="ascii")
    except OSError as problem:
        if problem.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise StoreReadOnly(store=directory, home=directory) from problem
        raise


def _locked(file: IO[str]) -> bool:
    try:
        if os.name == "nt":
            import msvcrt

            file.seek(0x7FFF)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextmanager
def locked(path: str) -> Iterator[None]:
    """Wait for a file's lock and hold it for a block."""
    with _opened(path) as file:
        if os.name == "nt":
            while not _locked(file):
                time.sleep(0.05)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield
