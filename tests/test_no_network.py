"""Nothing we run asks the world outside: every address is this machine's own, and no name is looked up.

The system calls of whole commands are recorded with strace, child processes included, so that no library can do it
unseen either.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.capture.transcripts import Claude

_ADDRESS = re.compile(r'inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)"')
_PORT = re.compile(r"sin6?_port=htons\((\d+)\)")
_LOOPBACK = ("127.", "::1", "0.0.0.0", "::")
_DNS = 53
_NAME_SERVICES = ("nscd/socket", "systemd/resolve")


@pytest.fixture
def traced(tmp_path: Path) -> list[str]:
    """The words that record every network call of a command."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("what goes over the network is not looked at: strace is not installed")
    words = [strace, "-f", "-qq", "-s", "300", "-e", "trace=network", "-o", str(tmp_path / "trace")]
    if subprocess.run([*words, "true"], check=False, capture_output=True).returncode:
        pytest.skip("what goes over the network is not looked at: strace may not trace here")
    return words


@pytest.fixture
def user(home: Path) -> Path:
    """A user with an agent and a history."""
    for number in range(3):
        talk = Claude(home, f"session-{number}")
        talk.says(f"Why does the heron importer {number} stop at line 40?")
        talk.runs("pytest -q", "1 failed: heron importer")
        talk.answers("It read tabs as blanks; the importer now splits on tabs only.", output=900)
    return home


def outside(trace: Path) -> list[str]:
    """Return the calls that name an address which is not this machine's, or a name server."""
    return list(_outside(trace.read_text(errors="replace").splitlines()))


def _outside(lines: list[str]) -> Iterator[str]:
    for line in lines:
        addresses = [first or second for first, second in _ADDRESS.findall(line)]
        away = any(not address.startswith(_LOOPBACK) for address in addresses)
        asks = str(_DNS) in _PORT.findall(line) or any(name in line for name in _NAME_SERVICES)
        if away or asks:
            yield line


COMMANDS = [
    ("init", "--yes", "--agent", "claude"),
    ("ingest",),
    ("dream", "--force"),
    ("recall", "why does the importer stop"),
    ("ask", "why does the importer stop"),
    ("doctor",),
]


def test_no_command_reaches_out(traced: list[str], user: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    for words in COMMANDS:
        done = subprocess.run(
            [*traced, sys.executable, "-m", "engram", *words], capture_output=True, text=True, check=False, timeout=300
        )
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        assert outside(trace) == [], words
    assert "splits on tabs" in subprocess.run(
        [sys.executable, "-m", "engram", "recall", "heron importer tabs"], capture_output=True, text=True, check=True
    ).stdout  # fmt: skip


def test_the_dashboard_reaches_out_to_nobody(traced: list[str], user: Path, tmp_path: Path) -> None:
    pytest.importorskip("starlette")
    trace = tmp_path / "trace"
    process = subprocess.Popen(
        [*traced, sys.executable, "-m", "engram", "ui", "--no-open"],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        address = _address(process.stdout.readline())
        subprocess.run([sys.executable, "-c", _VISIT, address, *PAGES], check=True, timeout=120)
    finally:
        os.killpg(process.pid, signal.SIGINT)
        process.wait(60)
    assert outside(trace) == []
    assert "bind(" in trace.read_text()  # or the server was not looked at


PAGES = ("/", "/sessions", "/search?q=importer", "/wiki", "/timeline", "/patterns", "/health")
_VISIT = """
import sys, urllib.request, http.cookiejar
visitor = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
visitor.open(sys.argv[1]).read()
server = "/".join(sys.argv[1].split("/")[:3])
for page in sys.argv[2:]:
    assert visitor.open(server + page).status == 200, page
"""


def _address(line: str) -> str:
    found = re.search(r"http://\S+", line)
    assert found, line
    return found.group()


def test_a_call_that_leaves_the_machine_would_be_seen(traced: list[str], tmp_path: Path) -> None:
    code = "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(('192.0.2.1', 53))"
    subprocess.run([*traced, sys.executable, "-c", code], check=False, capture_output=True)
    assert outside(tmp_path / "trace")
