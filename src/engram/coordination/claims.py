"""A claim: one wish for locks, tried until it is granted or out of time."""

from __future__ import annotations

from engram import text
from engram.clock import MINUTE
from engram.coordination import holds, projects, sessions
from engram.coordination.gate import Gate
from engram.errors import InvalidInput
from engram.redaction.removal import remove_secrets
from engram.store import activity, messages, tokens
from engram.store import locks as store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from engram.clock import Instant
    from engram.errors import Held
    from engram.hub import Hub
    from engram.model import Lock, Resource
    from engram.store.engine import Row

MODES = ("exclusive", "shared", "announce")


class Claim:
    """Several resources for one session, all of them or none."""

    def __init__(
        self, hub: Hub, session_id: str, wanted: list[str], note: str | None, mode: str, minutes: float | None,
        cwd: str | None, *, by_edit: bool = False,
    ) -> None:  # fmt: skip
        if mode not in MODES:
            raise InvalidInput(field="mode", reason=f"{mode!r} is none of {', '.join(MODES)}.")
        if not wanted or isinstance(wanted, str):
            raise InvalidInput(field="resources", reason="name at least one.")
        self.hub = hub
        self.mode = mode
        self.note = _reason(hub, note, by_edit) if note else None
        given = hub.settings.lock_minutes if minutes is None else minutes
        self.lasts = int(within("minutes", given, 0.001, 7 * 24 * 60) * MINUTE)
        self.session = sessions.require(hub, session_id)
        self.session_id = self.session["id"]
        self.cwd = cwd
        self.wanted = list(dict.fromkeys(holds.canonical(hub, self.session, word, cwd) for word in wanted))
        self.by_edit = by_edit  # nobody asked for it: the session is about to write, and what it holds suffices
        self.granted: list[Lock] = []
        self._waits = False

    def attempt(self, *, record: bool) -> Held | None:
        """Grant everything and return None, or return the refusal."""
        try:
            return self._attempt(durable=False, record=record)
        except _CeilingReached:
            return self._attempt(durable=True, record=record)

    def show_waiting(self, deadline: int) -> None:
        """Let the holder and others see who waits."""
        if not self._waits:
            self._waits = True
            with self.hub.engine.transaction():
                for resource in self.wanted:
                    store.wait(self.hub.engine, resource, self.session_id, self.hub.now(), deadline)

    def stop_waiting(self) -> None:
        """Take the wish back."""
        if self._waits:
            with self.hub.engine.transaction():
                store.stop_waiting(self.hub.engine, self.session_id)

    def _attempt(self, *, durable: bool, record: bool) -> Held | None:
        hub = self.hub
        gate = Gate(hub, self.session_id, durable=durable) if self.by_edit else hub.engine.transaction(durable=durable)
        with gate:
            store.serialize(hub.engine)
            sessions.touch(hub, self.session_id)
            at = hub.instant()
            around = {resource: holds.around(hub, resource) for resource in self.wanted}
            rivals = {r: self._rivals(rows, at) for r, rows in around.items()}
            for resource, found in rivals.items():
                alive = [rival for rival in found if rival["lapse"] is None]
                if alive:
                    return holds.refusal(hub, self.session_id, resource, alive, at, record=record)
            wanted = [resource for resource in self.wanted if not self._covered(resource, around[resource])]
            if wanted:
                self._grant_all(wanted, around, rivals, at, durable)
        return None

    def _rivals(self, rows: list[Row], at: Instant) -> list[Row]:
        """Return who stands in the way; two who edit the same file in checkouts of their own do not."""
        found = holds.rivals(rows, self.session_id, self.mode, at)
        if not self.by_edit or not any(row["by_edit"] for row in found):
            return found
        here = projects.place(self.cwd or self.session["cwd"] or "/").checkout
        return [row for row in found if not row["by_edit"] or projects.place(row["cwd"] or "/").checkout == here]

    def _covered(self, resource: Resource, around: list[Row]) -> bool:
        """Tell whether the session asked for a lock on what it is about to edit; the mode it chose stays."""
        asked = [row for row in around if row["session_id"] == self.session_id and not row["by_edit"]]
        same = (resource.kind, resource.pattern)
        return self.by_edit and any(
            row["mode"] == "exclusive" or (row["kind"], row["pattern"]) == same for row in asked
        )

    def _grant_all(
        self, wanted: list[Resource], around: dict[Resource, list[Row]], rivals: dict[Resource, list[Row]],
        at: Instant, durable: bool,
    ) -> None:  # fmt: skip
        first = self._tokens(len(wanted), durable) - len(wanted) + 1
        lost: dict[int, tuple[Row, int]] = {}  # by token: one lock may lie in the way of several wishes
        self.granted = []
        for number, resource in enumerate(wanted, start=first):
            token = self._grant(resource, number, around[resource], at)
            lost |= {rival["token"]: (rival, token) for rival in rivals[resource]}
        for rival, token in lost.values():
            _take_over(self.hub, self.session, rival, token, at)

    def _tokens(self, count: int, durable: bool) -> int:
        """Return the last of as many new tokens."""
        last = tokens.take(self.hub.engine, self.hub.boot, count)
        if last is None:
            if not durable:
                raise _CeilingReached
            tokens.raise_ceiling(self.hub.engine, self.hub.boot, count)
            last = tokens.take(self.hub.engine, self.hub.boot, count)
        assert last is not None
        return last

    def _grant(self, resource: Resource, token: int, around: list[Row], at: Instant) -> int:
        facts: dict[str, Any] = {
            "session_id": self.session_id, "mode": self.mode, "note": self.note, "lasts": self.lasts,
            "expires_at": at.steady + self.lasts, "by_edit": int(self.by_edit),
        }  # fmt: skip
        own = self._renewed(resource, around, facts)
        if own is None:
            own = {"token": token, "locked_at": at.now, "note": self.note}
            project = self.session["project"]
            store.insert(self.hub.engine, resource, token=token, project=project, now=at.now, **facts)
        row = {**self.session, "name": resource.name, "kind": resource.kind, **facts, **own}
        if not self.by_edit:  # nobody looks at those, and a hook waits
            self.granted.append(holds.view(row, at, overlapping=holds.beside(around, self.session_id, at)))
        return int(own["token"])

    def _renewed(self, resource: Resource, around: list[Row], facts: dict[str, Any]) -> Row | None:
        """Renew what the session holds already; a change of mode is a new grant, above all given meanwhile."""
        mine = (self.session_id, resource.kind, resource.pattern)
        own = next((row for row in around if (row["session_id"], row["kind"], row["pattern"]) == mine), None)
        if own is None:
            return None
        if own["mode"] != self.mode:
            store.delete(self.hub.engine, own["token"])
            return None
        changed = {name: facts[name] for name in ("note", "lasts", "expires_at", "by_edit")}
        return store.renew(self.hub.engine, own["token"], **changed)


def _reason(hub: Hub, note: str, by_edit: bool) -> str:
    said = text.clean("note", note)
    return said if by_edit else remove_secrets(hub, said)  # what a hook says is ours


class _CeilingReached(Exception):
    """The next token must wait for a durable commit."""


def within(field: str, number: float, least: float, most: float) -> float:
    """Return a number that makes sense."""
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not least <= number <= most:
        raise InvalidInput(field=field, reason=f"{number!r} is not between {least} and {most}.")
    return number


def _take_over(hub: Hub, taker: Row, rival: Row, token: int, at: Instant) -> None:
    """Pass a lapsed lock on, leave a trace, and tell the one who lost it."""
    store.delete(hub.engine, rival["token"])
    body = (
        f"Your lock on {rival['name']} (token {rival['token']}) was taken over by {taker['id']} "
        f"({taker['flavor']}: {text.inline(taker['summary'])}) with token {token}, because {rival['lapse']}."
    )
    messages.insert(
        hub.engine, sender=taker["id"], recipient=rival["session_id"], project=rival["project"], kind="loss",
        body=body, now=at.now,
    )  # fmt: skip
    activity.record(
        hub.engine, at.now, "takeover", rival["name"], session_id=taker["id"], project=rival["project"],
        holder=rival["session_id"], old_token=rival["token"], token=token, reason=rival["lapse"],
    )  # fmt: skip
