"""A text that a hook gives to an agent unasked, and its record."""

from __future__ import annotations

from engram.platform import text
from engram.platform.value import value
from engram.store import pushes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.hub import Hub
    from engram.store.engine import Row

# The moments at which an agent is given something.
PROMPT, READ, EDIT, COMMAND, FAILURE = MOMENTS = ("prompt", "read", "edit", "command", "failure")


@value
class Push:
    """A text for an agent, why it gets it, and where it comes from."""

    text: str
    reason: str
    sources: tuple[str, ...]


EMPTY = Push(text="", reason="", sources=())


def record_push(hub: Hub, session: Row, moment: str, push: Push, *, shown: bool) -> None:
    """Save what was given; never fail a hook."""
    try:
        with hub.engine.transaction(wait=False):
            pushes.add(
                hub.engine, push.sources, at=hub.now(), session_id=session["id"], project=session["project"],
                moment=moment, reason=push.reason[:300], content=push.text, tokens=text.count_tokens(push.text),
                shown=int(shown),
            )  # fmt: skip
    except Exception:  # noqa: S110  busy, full, read-only: the agent goes on
        pass


def hash_text(content: str) -> str:
    """Return a short hash of a text that is stable across processes."""
    from _blake2 import blake2b  # hashlib would load OpenSSL, which slows down a hook

    return blake2b(content.encode("utf-8", "replace"), digest_size=8).hexdigest()
