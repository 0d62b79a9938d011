"""Progress on one line of the terminal; nothing when output is piped or JSON."""

from __future__ import annotations

import os
import sys
import time

from engram.surfaces.cli.render.layout import cut_to_width
from engram.surfaces.cli.terminal import get_width

_BAR_WIDTH = 20
_SECONDS_BETWEEN_UPDATES = 0.1
_CLEAR_LINE = "\r\x1b[K"


class Progress:
    """A line that is rewritten in place and cleared at the end, so that only results stay on the screen."""

    def __init__(self, quiet: bool) -> None:
        self._is_visible = not quiet and sys.stderr.isatty()
        self._label, self._last_update = "", 0.0

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def report(self, label: str, done: int, total: int, item: str = "") -> None:
        """Show how many of how many items are done."""
        now = time.monotonic()
        is_news = label != self._label or done >= total or now - self._last_update > _SECONDS_BETWEEN_UPDATES
        if not self._is_visible or not total or not is_news:
            return
        self._label, self._last_update = label, now
        filled = min(_BAR_WIDTH, _BAR_WIDTH * done // total)
        bar = "█" * filled + "·" * (_BAR_WIDTH - filled)
        self._write(f"{label.capitalize()}  {bar}  {min(done, total):,}/{total:,}  {item}")

    def report_file(self, done: int, total: int, path: str | None) -> None:
        """Show how many bytes of the transcripts are read, and the file at hand."""
        self.report("Reading transcripts", done, total, os.path.basename(path or ""))

    def report_step(self, step: str) -> None:
        """Show the step that has begun."""
        if self._is_visible:
            self._write(step)

    def clear(self) -> None:
        """Remove the line from the screen."""
        if self._is_visible and self._label:
            sys.stderr.write(_CLEAR_LINE)
            sys.stderr.flush()

    def _write(self, line: str) -> None:
        self._label = self._label or line
        sys.stderr.write(_CLEAR_LINE + cut_to_width(line.rstrip(), (get_width() or 80) - 1))
        sys.stderr.flush()
