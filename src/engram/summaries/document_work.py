"""What profile and narrative need from the pass that updates them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    from engram.hub import Hub
    from engram.store.engine import Row
    from engram.summaries.extract import Quote
    from engram.summaries.months import Months
    from engram.summaries.summary_model import SummaryModel

    class DocumentWork(Protocol):
        """One pass over the documents above session summaries."""

        hub: Hub
        dry: bool
        model: SummaryModel
        months: Months

        def save_document(
            self, kind: str, key: str, sources: dict[str, Any], write: Callable[[], tuple[str, str]]
        ) -> str:
            """Rewrite a document unless it is up to date."""

        def clear_document(self, kind: str, key: str, current: Row | None) -> str:
            """Empty a document made of quotes."""

        def list_lines(self, session: str, month: str | None = None) -> list[Quote]:
            """Return the lines of a session."""

        def get_project_name(self, session: str) -> str:
            """Return the short name of a session's project."""

        def format_heading(self, session: str) -> str:
            """Return when a session began and its project."""

        def format_day(self, at: int) -> str:
            """Return a day in the user's time zone."""
