"""Install Debian's Chromium for the browser tests of the dashboard.

python3 tools/browser.py   as root on Debian or a derivative; elsewhere it prints what is missing

`python3 dev.py check --browser` runs it. Without that option, and outside CI, nothing is installed on the machine.

ENGRAM_TEST_CHROMIUM names another Chromium. Without Chromium, the tests that need it are skipped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def found() -> str | None:
    """Return the path of Chromium, or None if it is not installed."""
    named = os.environ.get("ENGRAM_TEST_CHROMIUM")
    return named or next((path for name in _NAMES if (path := shutil.which(name))), None)


def install() -> str:
    """Install Chromium; return the reason if that failed, else an empty string."""
    apt = shutil.which("apt-get")
    if apt is None:
        return "apt-get not found; install Chromium yourself"
    if os.geteuid() != 0:
        return "not root; run: sudo apt-get install chromium"
    environ = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in (("install",), ("update",), ("install",)):  # the package lists may be old or missing
        more = ("-y", "--no-install-recommends", "chromium") if words == ("install",) else ()
        done = subprocess.run([apt, "-qq", *words, *more], env=environ, capture_output=True, text=True, check=False)
        if found():
            return ""
    last = (done.stderr.strip() or done.stdout.strip()).splitlines()
    return f"apt-get failed: {last[-1] if last else 'no error message'}"


def main() -> int:
    reason = "" if found() else install()
    if reason:
        print(f"Chromium is not installed ({reason}). The browser tests will be skipped.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
