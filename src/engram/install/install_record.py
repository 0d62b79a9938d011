"""Record what we wrote to agents' files and their content before, so that they can be restored exactly."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from engram.capture.sweep_lock import SweepLock
from engram.errors import InitRunning, StoreUnavailable
from engram.platform.value import value

_NAME = "written.json"


@value
class InstalledFile:
    """One file as we left it."""

    path: str
    flavor: str
    project: str  # empty for the user's own configuration
    before: str | None  # hash of its stored original; None if there was no file
    wrote: str  # hash of what we wrote
    made: tuple[str, ...] = ()  # directories we created
    at: int = 0  # time in microseconds


class InstallRecord:
    """The files we wrote, in ENGRAM_HOME/wiring; saved before every step."""

    def __init__(self, home: str) -> None:
        self._folder = os.path.join(home, "wiring")
        self._files = _load_files(os.path.join(self._folder, _NAME))

    def get(self, path: str) -> InstalledFile | None:
        """Return the record of a file."""
        return self._files.get(path)

    def list_files(self, project: str | None) -> list[InstalledFile]:
        """Return the files we wrote for the user, or for one project."""
        return [file for file in self._files.values() if file.project == (project or "")]

    def add(self, file: InstalledFile, before: bytes | None) -> None:
        """Store a file's original and record what we are about to write."""
        if before is not None:
            self._save_original(before)
        self._files[file.path] = file
        self._save()

    def remove(self, path: str) -> None:
        """Delete the record of a file that was restored."""
        if self._files.pop(path, None) is not None:
            self._save()
            self._delete_unused_originals()

    def restore_entry(self, path: str, previous: InstalledFile | None) -> None:
        """Restore the previous record of a file that could not be written."""
        if previous is None:
            self.remove(path)
        else:
            self._files[path] = previous
            self._save()

    def read_original(self, installed_file: InstalledFile) -> bytes | None:
        """Return the original content of a file; None if it did not exist, or the original is lost."""
        if installed_file.before is None:
            return None
        try:
            with open(os.path.join(self._folder, "before", installed_file.before), "rb") as file:
                return file.read()
        except OSError:
            return None

    def _save_original(self, content: bytes) -> None:
        folder = os.path.join(self._folder, "before")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        path = os.path.join(folder, hash_content(content))
        if not os.path.exists(path):
            _write_atomically(path, content)

    def _save(self) -> None:
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        files = [{name: getattr(file, name) for name in InstalledFile.__match_args__} for file in self._files.values()]
        text = json.dumps({"version": 1, "files": files}, ensure_ascii=False, indent=1)
        _write_atomically(os.path.join(self._folder, _NAME), text.encode())

    def _delete_unused_originals(self) -> None:
        """Delete stored originals no record refers to."""
        folder = os.path.join(self._folder, "before")
        wanted_hashes = {file.before for file in self._files.values()}
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            if name not in wanted_hashes:
                os.unlink(os.path.join(folder, name))


@contextmanager
def hold_record(home: str) -> Iterator[InstallRecord]:
    """Lock the install record of a home; raise an error if the home cannot be written."""
    try:
        with SweepLock(home, "wiring.lock", InitRunning):
            yield InstallRecord(home)
    except OSError as problem:
        reason = f"{problem.filename or home}: {problem.strerror}."
        hint = "Free disk space or allow writing there, then run this again."
        raise StoreUnavailable(store=home, reason=reason, hint=hint) from problem


def hash_content(content: bytes) -> str:
    """Return the hash of a file's content."""
    return hashlib.sha256(content).hexdigest()


def _load_files(path: str) -> dict[str, InstalledFile]:
    """Load the record; if it is lost or damaged it is empty, since our entries are found without it."""
    try:
        with open(path, "rb") as file:
            files: list[dict[str, Any]] = json.loads(file.read())["files"]
        installed_files = [InstalledFile(**{**entry, "made": tuple(entry["made"])}) for entry in files]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return {entry.path: entry for entry in installed_files}


def _write_atomically(path: str, content: bytes) -> None:
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
