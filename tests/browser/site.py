"""The dashboard in a real Chromium: a server in a process of its own, and tabs that are let in by its links.

Every tab is watched: a script that fails, a word of the security policy or a request to anywhere else is a complaint.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from engram import Engram

WIDE, PHONE = {"width": 1280, "height": 860}, {"width": 390, "height": 844}
EMBEDDER = "static"  # what everybody has
_FLAGS = (
    "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
)  # fmt: skip


@contextmanager
def launched(path: str) -> Iterator[Any]:
    """Run a Chromium for the length of a block."""
    from playwright.sync_api import sync_playwright

    sandbox = ("--no-sandbox",) if os.geteuid() == 0 else ()
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=[*_FLAGS, *sandbox])
        yield running
        running.close()


class Site:
    """The dashboard of one home, and the tabs that are open on it."""

    def __init__(self, home: Path, chromium: Any) -> None:
        self.home, self._chromium = home, chromium
        self.complaints: list[str] = []
        home.mkdir(mode=0o700, exist_ok=True)
        self._server = self._command("--port", "0", stdout=subprocess.PIPE)
        assert self._server.stdout is not None
        self.url = json.loads(self._server.stdout.readline())["url"]

    def open(self, path: str = "/now", *, viewport: dict[str, int] = WIDE, dark: bool = False, scale: float = 1) -> Any:
        """Return a tab that was let in by a link of its own, on a page."""
        link = self._command(stdout=subprocess.PIPE).communicate(timeout=120)[0]
        scheme = "dark" if dark else "light"
        context = self._chromium.new_context(
            viewport=viewport, color_scheme=scheme, reduced_motion="reduce", device_scale_factor=scale
        )
        context.set_default_timeout(60_000)
        tab = context.new_page()
        tab.on("console", self._heard)
        tab.on("pageerror", lambda error: self.complaints.append(f"script: {error}"))
        tab.on("dialog", self.interrupted)
        context.on("request", lambda request: self._asked(request.url))
        tab.goto(json.loads(link)["link"])
        tab.goto(self.url + path)
        return tab

    def engram(self) -> Engram:
        """Open the same store beside the server."""
        return Engram(self.home, embedder=EMBEDDER)

    def interrupted(self, dialog: Any) -> None:
        """Complain of a question that no test expects."""
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def restart(self) -> None:
        """Stop the server and start it again at the same place."""
        port = self.url.rpartition(":")[2]
        self._server.send_signal(signal.SIGTERM)
        assert self._server.wait(30) == 0
        self._server = self._command("--port", port, stdout=subprocess.PIPE)
        assert self._server.stdout is not None
        assert json.loads(self._server.stdout.readline())["url"] == self.url

    def close(self) -> None:
        """Stop the server, and see that nothing went wrong in any tab."""
        for context in list(self._chromium.contexts):
            context.close()
        self._server.send_signal(signal.SIGTERM)
        assert self._server.wait(30) == 0
        assert self.complaints == []

    def _command(self, *words: str, **facts: Any) -> subprocess.Popen[str]:
        environ = os.environ | {"ENGRAM_HOME": str(self.home), "ENGRAM_EMBEDDER": EMBEDDER}
        command = [sys.executable, "-m", "engram", "ui", "--no-open", "--json", *words]
        return subprocess.Popen(command, env=environ, text=True, **facts)

    def _heard(self, message: Any) -> None:
        if message.type in ("error", "warning") and "the server responded with a status of 4" not in message.text:
            self.complaints.append(f"console: {message.text}")

    def _asked(self, url: str) -> None:
        parts = urlsplit(url)
        if f"{parts.scheme}://{parts.netloc}" != self.url:
            self.complaints.append(f"request: {url}")
