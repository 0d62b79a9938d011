"""The sessions a sweep writes to: found by the id their agent gave them, or made."""

from __future__ import annotations

import os
import time
from hashlib import blake2b
from typing import Any

from engram.capture.batch import Batch
from engram.capture.discover import Source
from engram.clock import SECOND
from engram.coordination import projects
from engram.digests.fold import Fold
from engram.hub import Hub
from engram.store import captures, sessions

_REMEMBERED = 256  # sessions


class Captured:
    """A session as the sweep knows it."""

    def __init__(self, flavor: str, name: str, started: int, about: dict[str, Any]) -> None:
        self.flavor = flavor
        self.name = name  # the id its agent gave it
        self.about = about
        self.num = 0  # until it is in the store
        self.session_id = ""
        self.batches = 0
        self.started_at = started
        self.linked = False  # whether a parent it does not name was looked for
        self.seen: dict[int, tuple[int, int]] | None = {}  # all its events, if this sweep saw its beginning
        self.fold: Fold | None = None

    def known_as(self, row: dict[str, Any]) -> None:
        """Take over what the store knows of it."""
        self.num, self.session_id, self.batches = row["num"], row["session_id"], row["batches"]
        self.started_at = row["started_at"] or self.started_at


class Register:
    """The sessions of this sweep spoken of last."""

    def __init__(self, hub: Hub) -> None:
        self.hub, self.engine = hub, hub.engine
        self._home = os.path.realpath(hub.settings.home)
        self._known: dict[tuple[str, str], Captured] = {}
        self._projects: dict[str, str] = {}

    def clear(self) -> None:
        """Forget them all."""
        self._known.clear()

    def trim(self) -> None:
        """Let go of the sessions longest not spoken of: the store knows them too, and memory is bounded."""
        for key in list(self._known)[:-_REMEMBERED]:
            del self._known[key]

    def sessions(self, flavor: str, batch: Batch, source: Source, excluded: set[str]) -> list[Captured]:
        """Return the sessions a batch speaks of, but those excluded and those a person deleted."""
        found = []
        deleted = sessions.deleted(self.engine)  # each time: a sweep may take long
        for name in batch.sessions:
            if name not in excluded and (flavor, name) not in deleted:
                captured = self._known.pop((flavor, name), None) or self._find(flavor, name, batch, source)
                self._known[flavor, name] = captured
                found.append(captured)
        return found

    def _find(self, flavor: str, name: str, batch: Batch, source: Source) -> Captured:
        """Return a session, with what the store knows of it if it was captured before."""
        about = batch.about.get(name, {})
        started = next((event.at for event in batch.events.get(name, ()) if event.at), None) or source.changed_at
        captured = Captured(flavor, name, started, about)
        row = captures.by_native_id(self.engine, flavor, name)
        if row is not None:
            captured.known_as(row)
            captured.seen = None
        return captured

    def begin(self, captured: Captured) -> None:
        """Give a session its rows: under the one that registered itself, or a new one."""
        if captured.num:
            return
        row = sessions.by_native_id(self.engine, captured.flavor, captured.name) or self._made(captured)
        captured.known_as(captures.add(self.engine, row["id"], captured.started_at))

    def ours(self, batch: Batch) -> set[str]:
        """Return the sessions a batch tells to be our own helpers'."""
        return {name for name, about in batch.about.items() if self._is_ours(about.get("cwd"))}

    def _is_ours(self, cwd: str | None) -> bool:
        """Tell whether a session was started by us to help us think: memory must not feed on itself."""
        return bool(cwd) and (os.path.realpath(cwd or "") + os.sep).startswith(self._home + os.sep)

    def _made(self, captured: Captured) -> dict[str, Any]:
        flavor, name, started, about = captured.flavor, captured.name, captured.started_at, captured.about
        mark = blake2b(f"{flavor}:{name}".encode(), digest_size=4).hexdigest()
        identity = f"{time.strftime('%Y%m%d-%H%M%S', time.localtime(started // SECOND))}-{mark}"
        facts = {each: about.get(each) for each in ("cwd", "branch", "model")}
        sessions.insert(
            self.engine, id=identity, flavor=flavor, native_id=name, session_type=flavor, summary="",
            status="completed", project=self.project(about.get("cwd")), started_at=started, last_heartbeat=started,
            completed_at=None if about.get("relation") == "subagent" else started, **facts,
        )  # fmt: skip
        return sessions.by_native_id(self.engine, flavor, name) or {}

    def project(self, cwd: str | None) -> str:
        """Return the project of a directory, which may lie on another machine or be gone."""
        if not cwd:
            return ""
        if cwd not in self._projects:
            self._projects[cwd] = projects.project_of(cwd) if os.path.isdir(cwd) else cwd
        return self._projects[cwd]

    def link(self, captured: Captured, row: dict[str, Any]) -> None:
        """Find the parent of forks that do not name it: all begin with the same event, the parent first."""
        if captured.linked or row["relation"] or not row["root"]:
            return
        captured.linked = True
        parent, *forks = captures.same_root(self.engine, row["root"], captured.flavor)
        for fork in forks:
            captures.relate(self.engine, fork["num"], parent["native_id"], "fork")
