"""Stand-ins for agent programs: small executables that print what `claude -p` and `codex exec` print.

The real programs are tested in test_real_clients; these cover what a real one does not do on request.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

# As printed by claude 2.1.197.
RESULT: dict[str, Any] = {
    "type": "result", "subtype": "success", "is_error": False, "api_error_status": None, "result": "hi there",
    "stop_reason": "end_turn", "total_cost_usd": 0.0011,
    "modelUsage": {"claude-haiku-4-5-20251001": {
        "inputTokens": 900, "outputTokens": 40, "cacheReadInputTokens": 0, "cacheCreationInputTokens": 0,
    }},
}  # fmt: skip


def install(folder: Path, name: str, body: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a program on the PATH; it writes its input to `<name>.json` and then runs `body`."""
    folder.mkdir(exist_ok=True)
    log = folder / f"{name}.json"
    program = folder / name
    program.write_text(
        f"#!{sys.executable}\n"
        "import json, os, subprocess, sys, time\n"
        "prompt = sys.stdin.read()\n"
        "files = {a: open(a).read() for a in sys.argv if a.endswith(('.txt', '.json')) and os.path.exists(a)}\n"
        "known = dict(argv=sys.argv[1:], prompt=prompt, cwd=os.getcwd(), env=dict(os.environ), files=files)\n"
        f"with open({str(log)!r}, 'a') as file: file.write(json.dumps(known) + '\\n')\n"
        f"calls = len(open({str(log)!r}).readlines())\n{body}\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return log


def printing(**facts: Any) -> str:
    """Return the body of a claude that answers."""
    told = {**RESULT, **facts}
    return f"print({json.dumps(told)!r}); sys.exit({int(told['is_error'])})"


def codex(*events: dict[str, Any], answer: str | None = None) -> str:
    """Return the body of a codex that answers."""
    lines = "\n".join(json.dumps(event) for event in events)
    written = "" if answer is None else f"open(sys.argv[sys.argv.index('-o') + 1], 'w').write({answer!r})\n"
    return f"{written}print({lines!r})"


def heard(log: Path) -> list[dict[str, Any]]:
    """Return the input of each call of a stand-in."""
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
