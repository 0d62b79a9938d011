"""Find or create the sessions an ingest writes to, by the id their agent gave them."""

from __future__ import annotations

import os
import time
from hashlib import blake2b
from typing import Any

from engram.capture.batch import Batch
from engram.capture.digests.fold import Fold
from engram.capture.discover import TranscriptFile
from engram.capture.vanished_directory import find_vanished_project
from engram.clock import SECOND
from engram.hub import Hub
from engram.sessions import checkouts
from engram.store import captures, sessions

_REMEMBERED = 256  # sessions kept in memory


class CapturedSession:
    """A session during an ingest."""

    def __init__(self, flavor: str, name: str, started: int, about: dict[str, Any]) -> None:
        self.flavor = flavor
        self.name = name  # the agent's session id
        self.about = about
        self.num = 0  # 0 until it is in the store
        self.session_id = ""
        self.batches = 0
        self.started_at = started
        self.linked = False  # whether its unnamed parent was looked up
        self.seen: dict[int, tuple[int, int]] | None = {}  # all its events, if this ingest read it from the start
        self.fold: Fold | None = None

    def load_row(self, row: dict[str, Any]) -> None:
        """Set what the store knows about the session."""
        self.num, self.session_id, self.batches = row["num"], row["session_id"], row["batches"]
        self.started_at = row["started_at"] or self.started_at


class SessionRegister:
    """A cache of the sessions most recently used in this ingest."""

    def __init__(self, hub: Hub) -> None:
        self.hub, self.engine = hub, hub.engine
        self._home = os.path.realpath(hub.settings.home)
        self._known: dict[tuple[str, str], CapturedSession] = {}
        self._projects: dict[tuple[str, str | None], str] = {}

    def clear(self) -> None:
        """Clear the cache."""
        self._known.clear()

    def trim(self) -> None:
        """Drop the least recently used sessions to bound memory; the store has them too."""
        for key in list(self._known)[:-_REMEMBERED]:
            del self._known[key]

    def find_sessions(
        self, flavor: str, batch: Batch, source: TranscriptFile, excluded: set[str]
    ) -> list[CapturedSession]:
        """Return the sessions in a batch, except excluded and deleted ones."""
        captured_sessions = []
        deleted = sessions.list_deleted(self.engine)  # reload: an ingest may take long
        for name in batch.sessions:
            if name not in excluded and (flavor, name) not in deleted:
                captured = self._known.pop((flavor, name), None) or self._load_session(flavor, name, batch, source)
                self._known[flavor, name] = captured
                captured_sessions.append(captured)
        return captured_sessions

    def _load_session(self, flavor: str, name: str, batch: Batch, source: TranscriptFile) -> CapturedSession:
        """Return a session, loaded from the store if it was captured before."""
        about = batch.about.get(name, {})
        started = next((event.at for event in batch.events.get(name, ()) if event.at), None) or source.changed_at
        captured = CapturedSession(flavor, name, started, about)
        row = captures.find_by_native_id(self.engine, flavor, name)
        if row is not None:
            captured.load_row(row)
            captured.seen = None
        return captured

    def ensure_rows(self, captured: CapturedSession) -> None:
        """Create the rows of a session if needed, reusing the session if it registered itself."""
        if captured.num:
            return
        row = sessions.find_by_native_id(self.engine, captured.flavor, captured.name) or self._create_session(captured)
        captured.load_row(captures.get_or_add(self.engine, row["id"], captured.started_at))

    def find_own_sessions(self, batch: Batch) -> set[str]:
        """Return the sessions in a batch that Engram started itself."""
        return {name for name, about in batch.about.items() if self._is_ours(about.get("cwd"))}

    def _is_ours(self, cwd: str | None) -> bool:
        """Return whether Engram started a session to call a model: memory must not feed on itself."""
        return bool(cwd) and (os.path.realpath(cwd or "") + os.sep).startswith(self._home + os.sep)

    def _create_session(self, captured: CapturedSession) -> dict[str, Any]:
        flavor, name, started, about = captured.flavor, captured.name, captured.started_at, captured.about
        mark = blake2b(f"{flavor}:{name}".encode(), digest_size=4).hexdigest()
        identity = f"{time.strftime('%Y%m%d-%H%M%S', time.localtime(started // SECOND))}-{mark}"
        facts = {field: about.get(field) for field in ("cwd", "branch", "model")}
        sessions.insert(
            self.engine, id=identity, flavor=flavor, native_id=name, session_type=flavor, summary="",
            status="completed", project=self.get_project(about), started_at=started, last_heartbeat=started,
            completed_at=None if about.get("relation") == "subagent" else started, **facts,
        )  # fmt: skip
        return sessions.find_by_native_id(self.engine, flavor, name) or {}

    def get_project(self, about: dict[str, Any]) -> str:
        """Return the project of a session's directory, which may be on another machine or deleted."""
        cwd, remote = about.get("cwd"), about.get("remote")
        if not cwd:
            return ""
        if (cwd, remote) not in self._projects:
            is_here = os.path.isdir(cwd)
            project = checkouts.add_checkout(self.hub, cwd) if is_here else find_vanished_project(self.hub, cwd, remote)
            self._projects[cwd, remote] = project
        return self._projects[cwd, remote]

    def link_forks(self, captured: CapturedSession, row: dict[str, Any]) -> None:
        """Link forks that do not name their parent: all start with the same event, the parent first."""
        if captured.linked or row["relation"] or not row["root"]:
            return
        captured.linked = True
        parent, *forks = captures.list_by_root(self.engine, row["root"], captured.flavor)
        for fork in forks:
            captures.set_parent(self.engine, fork["num"], parent["native_id"], "fork")
