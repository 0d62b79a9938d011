"""Give an agent what settled a problem before, for its prompt."""

from __future__ import annotations

from engram.surfaces.hooks.timed_push import push_in_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.hub import Hub
    from engram.search.push_record import Push
    from engram.store.engine import Row
    from engram.surfaces.hooks.hook_event import HookEvent


def push_for_prompt(hub: Hub, event: HookEvent, session: Row) -> str:
    """Return what settled the problem in a prompt, or an empty string."""

    def choose() -> Push:
        from engram.search.push import choose_for_prompt

        return choose_for_prompt(hub, session, event.prompt, hub.settings.prompt_tokens)

    return push_in_time(hub, session, "prompt", hub.settings.prompt_recall, choose)
