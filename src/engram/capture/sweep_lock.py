"""A file lock for one process per machine, released when the process ends in any way."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import IO

from engram.errors import Error, StoreReadOnly, SweepRunning

_PAUSE = 0.25  # seconds between attempts


class SweepLock:
    """The lock for ingesting, or for what another file name stands for; fails if another process holds it."""

    def __init__(self, home: str, name: str = "sweep.lock", refusal: type[Error] = SweepRunning) -> None:
        self._path = os.path.join(home, name)
        self._refusal = refusal
        self._file: IO[str] | None = None

    def __enter__(self) -> SweepLock:
        file = _open_lock_file(self._path)
        if not _try_lock(file):
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


@contextmanager
def wait_for_sweep_lock(home: str, patience: float = 120) -> Iterator[None]:
    """Hold the lock for ingesting for the block, after waiting for a running ingest."""
    deadline = time.monotonic() + patience
    lock = SweepLock(home)
    while True:
        try:
            lock.__enter__()
            break
        except SweepRunning:
            if time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE)
    try:
        yield
    finally:
        lock.__exit__(None, None, None)


def _open_lock_file(path: str) -> IO[str]:
    directory = os.path.dirname(path)
    try:
        os.makedirs(directory, mode=0o700, exist_ok=True)
        return open(path, "a+", encoding="ascii")
    except OSError as problem:
        if problem.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise StoreReadOnly(store=directory, home=directory) from problem
        raise


def _try_lock(file: IO[str]) -> bool:
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
def hold_file_lock(path: str) -> Iterator[None]:
    """Wait for a file lock and hold it for the block."""
    with _open_lock_file(path) as file:
        if os.name == "nt":
            while not _try_lock(file):
                time.sleep(0.05)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield
