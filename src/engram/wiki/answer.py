"""An answer from memory, with its sources."""

from __future__ import annotations

from engram.platform.text import escape_inline
from engram.platform.value import value

_LOG_TIERS = ("log", "completion")
_TITLED_TIERS = ("era", "profile", "narrative")


@value
class AnswerSource:
    """A source of an answer."""

    id: str  # an id that `get` accepts
    tier: str
    target: str  # wiki page; empty for a session
    session_id: str | None
    day: str
    name: str = ""  # name within its tier, such as a month or a project
    title: str = ""  # of the episode, commit or session

    @property
    def shown(self) -> str:
        """The source as an answer cites it."""
        from engram.wiki.vault.links import format_link

        if self.target:
            return format_link(self.target)
        if self.session_id is None:
            return _format_title(self.tier, self.name, self.id)
        session = f"session `{escape_inline(self.session_id, 80)}`"
        return f"log of {session}" if self.tier in _LOG_TIERS else session


@value
class WikiAnswer:
    """An answer with its sources."""

    question: str
    answer: str
    known: bool
    sources: tuple[AnswerSource, ...]
    made_by: str  # model and prompt, or "quotes"; empty if nothing is known
    filed: str = ""  # page it was saved as
    follow_up: tuple[str, ...] = ()
    problem: str = ""  # why the model could not answer


def _format_title(tier: str, name: str, number: str) -> str:
    """Return the name of a source that is neither a session nor a page."""
    from engram.sessions import world_state
    from engram.summaries import versions

    if tier == world_state.KIND:
        return world_state.format_title(escape_inline(name, 80))
    return (
        versions.format_title(tier, escape_inline(name, 80))
        if tier in _TITLED_TIERS
        else f"{tier} `{escape_inline(name or number, 80)}`"
    )
