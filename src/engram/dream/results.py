"""The results of a step, a pass, a preview and an undo."""

from __future__ import annotations

from engram.dream.priorities import Drive
from engram.platform.text import format_count
from engram.platform.value import value
from engram.types import Rot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

_MANY = {"entry": "log entries", "gist": "summaries", "page": "page changes", "self": "self state versions"}
_ONE = {"entry": "log entry", "gist": "summary", "page": "page change", "self": "self state version"}
ASKED, FORCED, LOOP, WORKER = "asked", "forced", "loop", "worker"  # why a pass began


@value
class StepResult:
    """The result of a step."""

    step: str
    did: str  # in words
    count: int  # how much it made or changed
    seconds: float = 0.0
    failed: dict[str, str] = {}  # noqa: RUF012  what could not be done, and why; tried again next time
    left: int = 0  # work left for another pass


@value
class Pass:
    """One pass of the dream."""

    id: int  # 0 if nothing was due and nothing was done
    began_at: datetime
    ended_at: datetime | None  # None while it runs, or if it died
    why: str
    host: str
    pid: int
    before: dict[str, Drive]  # drives at the start
    drives: dict[str, Drive]  # drives at the end
    steps: tuple[StepResult, ...]
    seconds: float
    calls: int  # model calls
    tokens: int
    cost: float  # US dollars
    budget: str
    changes: dict[str, int]  # documents, pages and entries it wrote, by kind
    rot: Rot | None = None
    undone_at: datetime | None = None

    @property
    def wrote(self) -> str:
        """What it wrote, in words."""
        some = sorted(self.changes.items())
        return ", ".join(format_count(count, _ONE.get(kind, kind), _MANY.get(kind, "")) for kind, count in some)


@value
class DreamPreview:
    """What a pass would do."""

    drives: dict[str, Drive]
    steps: dict[str, int]  # steps that would run, with the amount of work
    waiting: dict[str, int]  # steps below their threshold, with the amount of work
    diff: str  # of gists, eras, profile, narrative and pages, as the rules would write them now
    note: str  # what the diff cannot show


@value
class UndoReport:
    """The result of undoing a pass."""

    id: int
    restored: tuple[str, ...]
    removed: tuple[str, ...]  # what did not exist before it
    kept: tuple[str, ...]  # changed by somebody since, and left alone
