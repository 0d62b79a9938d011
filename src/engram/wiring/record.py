"""What we wrote into agents' files, and what they held before: so that it can be taken back to the byte."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from engram.capture.turn import Turn
from engram.errors import InitRunning, StoreUnavailable
from engram.value import value

_NAME = "written.json"


@value
class Written:
    """One file as we left it."""

    path: str
    flavor: str
    project: str  # empty: for the user everywhere
    before: str | None  # the hash its bytes are kept under; None: there was no file
    wrote: str  # the hash of what we wrote
    made: tuple[str, ...] = ()  # directories that were not there
    at: int = 0  # when, in microseconds


class Record:
    """The files we wrote, in ENGRAM_HOME/wiring; saved at every step, before the step is taken."""

    def __init__(self, home: str) -> None:
        self._folder = os.path.join(home, "wiring")
        self._files = _loaded(os.path.join(self._folder, _NAME))

    def of(self, path: str) -> Written | None:
        """Return what we know of a file."""
        return self._files.get(path)

    def all(self, project: str | None) -> list[Written]:
        """Return the files we wrote for the user, or for one project."""
        return [each for each in self._files.values() if each.project == (project or "")]

    def note(self, written: Written, before: bytes | None) -> None:
        """Keep what a file held, and what we are about to write into it."""
        if before is not None:
            self._keep(before)
        self._files[written.path] = written
        self._save()

    def drop(self, path: str) -> None:
        """Forget a file that is as it was."""
        if self._files.pop(path, None) is not None:
            self._save()
            self._tidy()

    def put_back(self, path: str, known: Written | None) -> None:
        """Know of a file what was known before: it could not be written."""
        if known is None:
            self.drop(path)
        else:
            self._files[path] = known
            self._save()

    def before(self, written: Written) -> bytes | None:
        """Return what a file held before us; None if it was not there, or if that is lost."""
        if written.before is None:
            return None
        try:
            with open(os.path.join(self._folder, "before", written.before), "rb") as file:
                return file.read()
        except OSError:
            return None

    def _keep(self, held: bytes) -> None:
        folder = os.path.join(self._folder, "before")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        path = os.path.join(folder, digest(held))
        if not os.path.exists(path):
            _replace(path, held)

    def _save(self) -> None:
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        files = [{name: getattr(each, name) for name in Written.__match_args__} for each in self._files.values()]
        text = json.dumps({"version": 1, "files": files}, ensure_ascii=False, indent=1)
        _replace(os.path.join(self._folder, _NAME), text.encode())

    def _tidy(self) -> None:
        """Drop kept bytes no file goes back to."""
        folder = os.path.join(self._folder, "before")
        wanted = {each.before for each in self._files.values()}
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            if name not in wanted:
                os.unlink(os.path.join(folder, name))


@contextmanager
def held(home: str) -> Iterator[Record]:
    """Hold the record of a home, one at a time; say so where the home cannot be written to."""
    try:
        with Turn(home, "wiring.lock", InitRunning):
            yield Record(home)
    except OSError as problem:
        reason = f"{problem.filename or home}: {problem.strerror}."
        hint = "Make room or allow writing there, then run this again."
        raise StoreUnavailable(store=home, reason=reason, hint=hint) from problem


def digest(content: bytes) -> str:
    """Return the hash bytes are known by."""
    return hashlib.sha256(content).hexdigest()


def _loaded(path: str) -> dict[str, Written]:
    """Return what was recorded; a record that is lost or damaged is none: entries of ours are found without it."""
    try:
        with open(path, "rb") as file:
            files: list[dict[str, Any]] = json.loads(file.read())["files"]
        found = [Written(**{**each, "made": tuple(each["made"])}) for each in files]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return {each.path: each for each in found}


def _replace(path: str, content: bytes) -> None:
    temporary = f"{path}.{os.getpid()}"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise
