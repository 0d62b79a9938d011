"""Install the browser that the tests of the dashboard drive: Debian's Chromium, if this machine lets us.

python3 tools/browser.py   as root on Debian or a kin of it; elsewhere it says what is missing

`python3 dev.py check --browser` calls it; without that word, or CI set, nothing is installed on the machine.

ENGRAM_TEST_CHROMIUM names another Chromium. Without one, the tests that need it are skipped by name.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def found() -> str | None:
    """Return the Chromium of this machine."""
    named = os.environ.get("ENGRAM_TEST_CHROMIUM")
    return named or next((path for name in _NAMES if (path := shutil.which(name))), None)


def install() -> str:
    """Install Chromium; return why not if that failed."""
    apt = shutil.which("apt-get")
    if apt is None:
        return "there is no apt-get; install Chromium yourself"
    if os.geteuid() != 0:
        return "only root may install it: apt-get install chromium"
    environ = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in (("install",), ("update",), ("install",)):  # the lists of packages may be old or missing
        more = ("-y", "--no-install-recommends", "chromium") if words == ("install",) else ()
        done = subprocess.run([apt, "-qq", *words, *more], env=environ, capture_output=True, text=True, check=False)
        if found():
            return ""
    last = (done.stderr.strip() or done.stdout.strip()).splitlines()
    return f"apt-get failed: {last[-1] if last else 'it does not say why'}"


def main() -> int:
    reason = "" if found() else install()
    if reason:
        print(f"Chromium is not here ({reason}); the tests that drive it are skipped.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
