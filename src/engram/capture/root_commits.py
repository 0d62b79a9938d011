"""Read the first commits of a repository with git; never in a hook, as git walks the whole history."""

from __future__ import annotations

import os
import subprocess

from engram.sessions.git_remotes import find_git_directory

_SECONDS = 30
_MOST = 8  # a repository has one, and one more for each unrelated history merged into it
_COMMAND = ("git", "-c", "core.fsmonitor=false", "rev-list", "--max-parents=0", "--all")
_ELSEWHERE = ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE")
_SETTINGS = {
    "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_REPLACE_OBJECTS": "1",
}  # fmt: skip


def read_root_commits(root: str) -> str:
    """Return the first commits in a fixed order, separated by spaces; "" if they cannot be known."""
    if os.path.exists(os.path.join(find_git_directory(root), "shallow")):
        return ""  # what a shallow clone calls its first commit is not
    environ = {name: fact for name, fact in os.environ.items() if name not in _ELSEWHERE} | _SETTINGS
    try:
        answer = subprocess.run(
            _COMMAND, cwd=root, env=environ, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return " ".join(sorted(answer.stdout.decode("ascii", "replace").split())[:_MOST])
