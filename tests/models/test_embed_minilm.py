"""Loading MiniLM records nothing about this machine and sends nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

if find_spec("onnxruntime") is None:  # importing it here would record an event in the home of who runs the tests
    pytest.skip("MiniLM is not asked: the extra minilm is missing", allow_module_level=True)

LOAD = """
import os
from engram.models.embed_minilm import MiniLM
MiniLM().embed(["a text"])
print(os.environ["ORT_DISABLE_TELEMETRY"])
"""


@pytest.mark.parametrize("chosen", [None, "0", ""])
def test_telemetry_is_off_whatever_the_environment_says(tmp_path: Path, chosen: str | None) -> None:
    strace = shutil.which("strace")
    env = {key: each for key, each in os.environ.items() if key != "ORT_DISABLE_TELEMETRY"}
    env |= {} if chosen is None else {"ORT_DISABLE_TELEMETRY": chosen}
    left = tmp_path / "left"  # events that cannot be sent now would wait here
    left.mkdir()
    env |= {"HOME": str(left), "TMPDIR": str(left)}
    trace = tmp_path / "trace"
    traced = [strace, "-f", "-o", str(trace), "-e", "trace=network"] if strace else []
    done = subprocess.run([*traced, sys.executable, "-c", LOAD], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"
    assert not list(left.rglob("*"))
    assert not strace or "connect(" not in trace.read_text()
