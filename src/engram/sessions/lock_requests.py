"""A request for locks, repeated until it is granted or times out."""

from __future__ import annotations

from engram.clock import MINUTE
from engram.errors import InvalidInput
from engram.platform import text
from engram.redaction.store_redactor import remove_secrets
from engram.sessions import clone_locks, lifecycle, lock_view, projects
from engram.sessions.fencing import FencedTransaction
from engram.store import activity, fencing_tokens, messages
from engram.store import locks as store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from engram.clock import Instant
    from engram.errors import Held
    from engram.hub import Hub
    from engram.store.engine import Row
    from engram.types import Lock, Resource

MODES = ("exclusive", "shared", "announce")


class LockRequest:
    """A request of one session for several resources: all or none."""

    def __init__(
        self, hub: Hub, session_id: str, names: list[str], note: str | None, mode: str, minutes: float | None,
        cwd: str | None, *, by_edit: bool = False,
    ) -> None:  # fmt: skip
        if mode not in MODES:
            raise InvalidInput(field="mode", reason=f"Unknown value {mode!r}. Choose one of: {', '.join(MODES)}.")
        if not names or isinstance(names, str):
            raise InvalidInput(field="resources", reason="Name at least one resource.")
        self.hub = hub
        self.mode = mode
        self.note = _clean_note(hub, note, by_edit) if note else None
        lock_minutes = hub.settings.lock_minutes if minutes is None else minutes
        self.lasts = int(require_between("minutes", lock_minutes, 0.001, 7 * 24 * 60) * MINUTE)
        self.session = lifecycle.require_session(hub, session_id)
        self.session_id = self.session["id"]
        self.cwd = cwd
        self.resources = list(dict.fromkeys(lock_view.resolve_resource(hub, self.session, name, cwd) for name in names))
        self.by_edit = by_edit  # automatic, before a write: locks the session already holds suffice
        self.granted: list[Lock] = []
        self._is_waiting = False

    def attempt(self, *, record: bool) -> Held | None:
        """Grant all locks and return None, or return the refusal."""
        try:
            return self._attempt(durable=False, record=record)
        except _CeilingReached:
            return self._attempt(durable=True, record=record)

    def show_waiting(self, deadline: int) -> None:
        """Record that this session is waiting, for the holder and others to see."""
        if not self._is_waiting:
            self._is_waiting = True
            with self.hub.engine.transaction():
                for resource in self.resources:
                    store.add_waiter(self.hub.engine, resource, self.session_id, self.hub.now(), deadline)

    def stop_waiting(self) -> None:
        """Remove the session from the waiters."""
        if self._is_waiting:
            with self.hub.engine.transaction():
                store.delete_waiters(self.hub.engine, self.session_id)

    def _attempt(self, *, durable: bool, record: bool) -> Held | None:
        hub = self.hub
        transaction = (
            FencedTransaction(hub, self.session_id, durable=durable)
            if self.by_edit
            else hub.engine.transaction(durable=durable)
        )
        with transaction:
            store.lock_table(hub.engine)
            lifecycle.touch_session(hub, self.session_id)
            instant = hub.instant()
            overlapping = {resource: lock_view.find_overlapping_locks(hub, resource) for resource in self.resources}
            rivals = {r: self._find_rivals(rows, instant) for r, rows in overlapping.items()}
            for resource, locks in rivals.items():
                live_rivals = [rival for rival in locks if rival["lapse"] is None]
                if live_rivals:
                    return lock_view.build_refusal(hub, self.session_id, resource, live_rivals, instant, record=record)
            missing = [resource for resource in self.resources if not self._is_covered(resource, overlapping[resource])]
            if missing:
                self._grant_all(missing, overlapping, rivals, instant, durable)
        return None

    def _find_rivals(self, rows: list[Row], instant: Instant) -> list[Row]:
        """Return the conflicting locks; edits of the same file in different checkouts do not conflict."""
        rivals = lock_view.find_rivals(self.hub, self.session, rows, self.mode, instant)
        if not self.by_edit or not any(row["by_edit"] for row in rivals):
            return rivals
        checkout = projects.find_git_location(self.cwd or self.session["cwd"] or "/").checkout
        return [
            row
            for row in rivals
            if not row["by_edit"] or projects.find_git_location(row["cwd"] or "/").checkout == checkout
        ]

    def _is_covered(self, resource: Resource, overlapping: list[Row]) -> bool:
        """Return whether an edit is already covered by a lock the session asked for; that lock's mode stays."""
        own_locks = [row for row in overlapping if row["session_id"] == self.session_id and not row["by_edit"]]
        key = (resource.kind, resource.pattern)
        return self.by_edit and any(
            row["mode"] == "exclusive" or (row["kind"], row["pattern"]) == key for row in own_locks
        )

    def _grant_all(
        self, resources: list[Resource], overlapping: dict[Resource, list[Row]], rivals: dict[Resource, list[Row]],
        instant: Instant, durable: bool,
    ) -> None:  # fmt: skip
        first = self._take_tokens(len(resources), durable) - len(resources) + 1
        lost_locks: dict[int, tuple[Row, int]] = {}  # by token: one lock may block several resources
        self.granted = []
        for number, resource in enumerate(resources, start=first):
            token = self._grant_lock(resource, number, overlapping[resource], instant)
            lost_locks |= {rival["token"]: (rival, token) for rival in rivals[resource]}
        for rival, token in lost_locks.values():
            _take_over_lock(self.hub, self.session, rival, token, instant)

    def _take_tokens(self, count: int, durable: bool) -> int:
        """Take `count` new tokens and return the last one."""
        last = fencing_tokens.take_tokens(self.hub.engine, self.hub.boot, count)
        if last is None:
            if not durable:
                raise _CeilingReached
            fencing_tokens.raise_ceiling(self.hub.engine, self.hub.boot, count)
            last = fencing_tokens.take_tokens(self.hub.engine, self.hub.boot, count)
        assert last is not None
        return last

    def _grant_lock(self, resource: Resource, token: int, overlapping: list[Row], instant: Instant) -> int:
        facts: dict[str, Any] = {
            "session_id": self.session_id, "mode": self.mode, "note": self.note, "lasts": self.lasts,
            "expires_at": instant.steady + self.lasts, "by_edit": int(self.by_edit),
        }  # fmt: skip
        granted = self._renew_own_lock(resource, overlapping, facts)
        if granted is None:
            granted = {"token": token, "locked_at": instant.now, "note": self.note}
            project = self.session["project"]
            store.insert(self.hub.engine, resource, token=token, project=project, now=instant.now, **facts)
        row = {**self.session, "name": resource.name, "kind": resource.kind, **facts, **granted}
        if not self.by_edit:  # nobody reads these, and a hook is waiting
            overlaps = lock_view.list_live_overlaps(self.hub, self.session, overlapping, instant)
            self.granted.append(
                lock_view.to_lock(row, instant, overlapping=overlaps, clones=self._list_clones(resource, instant))
            )
        return int(granted["token"])

    def _list_clones(self, resource: Resource, instant: Instant) -> tuple[Lock, ...]:
        """Return the locks of others on the same file in other clones."""
        rows = clone_locks.list_clone_locks(self.hub, self.session, resource, instant)
        return tuple(lock_view.to_lock(row, instant) for row in rows)

    def _renew_own_lock(self, resource: Resource, overlapping: list[Row], facts: dict[str, Any]) -> Row | None:
        """Renew a lock the session already holds; a change of mode is a new grant with a new token."""
        key = (self.session_id, resource.kind, resource.pattern)
        lock = next((row for row in overlapping if (row["session_id"], row["kind"], row["pattern"]) == key), None)
        if lock is None:
            return None
        if lock["mode"] != self.mode:
            store.delete(self.hub.engine, lock["token"])
            return None
        changed = {name: facts[name] for name in ("note", "lasts", "expires_at", "by_edit")}
        return store.renew(self.hub.engine, lock["token"], **changed)


def _clean_note(hub: Hub, note: str, by_edit: bool) -> str:
    cleaned = text.validate_text("note", note)
    return cleaned if by_edit else remove_secrets(hub, cleaned)  # a hook's note is our own text


class _CeilingReached(Exception):
    """A new token needs a durable commit first."""


def require_between(field: str, number: float, least: float, most: float) -> float:
    """Return the number if it is in range, or raise."""
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not least <= number <= most:
        raise InvalidInput(field=field, reason=f"{number!r} is not a number between {least} and {most}.")
    return number


def _take_over_lock(hub: Hub, taker: Row, rival: Row, token: int, instant: Instant) -> None:
    """Take over a lapsed lock, record it, and notify the previous holder."""
    store.delete(hub.engine, rival["token"])
    body = (
        f"Your lock on {rival['name']} (token {rival['token']}) was taken over by {taker['id']} "
        f"({taker['flavor']}: {text.escape_inline(taker['summary'])}) with token {token}, because {rival['lapse']}."
    )
    messages.insert(
        hub.engine, sender=taker["id"], recipient=rival["session_id"], project=rival["project"], kind="loss",
        body=body, now=instant.now,
    )  # fmt: skip
    activity.record(
        hub.engine, instant.now, "takeover", rival["name"], session_id=taker["id"], project=rival["project"],
        holder=rival["session_id"], old_token=rival["token"], token=token, reason=rival["lapse"],
    )  # fmt: skip
