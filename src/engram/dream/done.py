"""What a step, a pass, a dry run and an undoing came to, as values."""

from __future__ import annotations

from engram.dream.drives import Drive
from engram.model import Rot
from engram.text import counted
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

_MANY = {"entry": "log entries", "page": "changes of pages", "self": "versions of the self state"}
_ONE = {"entry": "log entry", "page": "change of a page", "self": "version of the self state"}
ASKED, FORCED, LOOP, WORKER = "asked", "forced", "loop", "worker"  # why a pass began


@value
class Done:
    """What a step came to."""

    step: str
    did: str  # in words
    count: int  # how much it made or changed
    seconds: float = 0.0
    failed: dict[str, str] = {}  # noqa: RUF012  what could not be done, and why; tried again next time
    left: int = 0  # what is left for another pass


@value
class Pass:
    """One pass of the dream."""

    id: int  # 0: nothing was due, and nothing was done
    began_at: datetime
    ended_at: datetime | None  # None: it is under way, or died
    why: str
    host: str
    pid: int
    before: dict[str, Drive]  # drives as they were sensed at the start
    drives: dict[str, Drive]  # as they stood at the end
    steps: tuple[Done, ...]
    seconds: float
    calls: int  # of a model
    tokens: int
    cost: float  # US dollars
    budget: str
    changes: dict[str, int]  # documents, pages and entries it wrote, by kind
    rot: Rot | None = None
    undone_at: datetime | None = None

    @property
    def wrote(self) -> str:
        """Return what it wrote, in words."""
        some = sorted(self.changes.items())
        return ", ".join(counted(count, _ONE.get(kind, kind), _MANY.get(kind, "")) for kind, count in some)


@value
class Foreseen:
    """What a pass would do."""

    drives: dict[str, Drive]
    steps: dict[str, int]  # those that would run, and how much waits for each
    waiting: dict[str, int]  # those below their threshold, and how much waits for each
    diff: str  # of gists, eras, profile, narrative and pages, as the rules would write them now
    note: str  # what a diff cannot show


@value
class Undone:
    """What undoing a pass came to."""

    id: int
    restored: tuple[str, ...]
    removed: tuple[str, ...]  # what there was not before it
    kept: tuple[str, ...]  # changed since by somebody, and left alone
