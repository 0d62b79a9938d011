"""Join projects that turned out to be one repository, and separate checkouts that turned out to be another."""

from __future__ import annotations

from engram.platform import program_log, text
from engram.store import activity, documents, dream_inbox, messages
from engram.store import project_moves as store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.hub import Hub

_WORLD = "world"


def join_projects(hub: Hub, old: str, new: str, reason: str) -> bool:
    """Move everything of a project to another; return False if it has to wait for a lock on a name."""
    with hub.engine.transaction(durable=True):
        store.lock_moves(hub.engine)
        if store.list_named_locks(hub.engine, old, hub.steady()):
            return False  # its holder could not release it, and another session could take it as well
        count = store.count_sessions(hub.engine, old)
        world_is_kept = _keep_world_state(hub, old, new)
        store.move_all(hub.engine, old, new)
        dream_inbox.mark_new(hub.engine, dream_inbox.COMPILE, [old, new], hub.now())
        activity.record(
            hub.engine, hub.now(), "joined", old, project=new, sessions=count, reason=reason,
            **({"world_state": "kept under the old path"} if world_is_kept else {}),
        )  # fmt: skip
    program_log.info(f"Project {old!r} joined {new!r}: {reason}, {text.format_count(count, 'session')}")
    return True


def separate_checkout(hub: Hub, host: str, path: str, old: str, new: str) -> bool:
    """Move the sessions of one checkout out of a project; return False if it has to wait for a lock on a name."""
    with hub.engine.transaction(durable=True):
        store.lock_moves(hub.engine)
        if store.list_named_locks(hub.engine, old, hub.steady()):
            return False
        before = store.count_sessions(hub.engine, new)
        store.move_checkout(hub.engine, host, path, old, new)
        dream_inbox.mark_new(hub.engine, dream_inbox.COMPILE, [old, new], hub.now())
        count = store.count_sessions(hub.engine, new) - before
        activity.record(
            hub.engine, hub.now(), "separated", path, project=new, sessions=count, previous=old,
            reason="its first commits are others",
        )  # fmt: skip
    program_log.info(f"Checkout {path!r} left {old!r} for {new!r}: {text.format_count(count, 'session')}")
    return True


def _keep_world_state(hub: Hub, old: str, new: str) -> bool:
    """Leave a second world state where it is, and tell the next session in the project what it says."""
    state, other = (documents.get_current(hub.engine, _WORLD, key) for key in (old, new))
    if state is None or other is None or not state["content"].strip() or state["content"] == other["content"]:
        return False
    body = (
        f"The checkout {old} is part of this project now. It had a world state of its own; add what still holds with "
        f"`engram world set`:\n\n{state['content']}"
    )
    messages.insert(
        hub.engine, sender=None, recipient=None, project=new, kind="note", body=text.cut_to_tokens(body, 4000),
        now=hub.now(),
    )  # fmt: skip
    return True
