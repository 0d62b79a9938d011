"""Run mem0 without a language model: unmodified documents, FAISS, static word vectors."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

HOME = Path(sys.argv[1])
ANSWERS = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # keep the library's own output apart from the answers
os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=str(HOME / "mem0"), OPENAI_API_KEY="none")


def embedder() -> Any:
    """Return the word vectors as a langchain embedder."""
    wordllama: Any = importlib.import_module("wordllama")
    base: Any = importlib.import_module("langchain.embeddings.base").Embeddings
    # The library misspells a directory of its own wheel; passed as the cache it is found.
    model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)

    def embed(_: Any, text: str) -> Any:
        return model.embed([text], norm=True)[0].tolist()

    def embed_all(self: Any, texts: list[str]) -> Any:
        return [embed(self, text) for text in texts]

    return type("Static", (base,), {"embed_query": embed, "embed_documents": embed_all})()


class Runner:
    """One store at a time."""

    def __init__(self) -> None:
        self.mem0: Any = importlib.import_module("mem0")
        self.embedder = embedder()
        self.number = 0

    def begin(self) -> dict[str, Any]:
        """Return version and configuration."""
        return {"about": f"mem0 {self.mem0.__version__}, infer=False, FAISS, wordllama 256-d"}

    def prepare(self, documents: list[dict[str, Any]]) -> dict[str, Any]:
        """Fill a new store."""
        self.number += 1
        shutil.rmtree(HOME / f"store{self.number - 1}", ignore_errors=True)
        home = HOME / f"store{self.number}"
        store = {"path": str(home), "embedding_model_dims": 256, "collection_name": "m", "distance_strategy": "cosine"}
        self.memory = self.mem0.Memory.from_config(
            {
                "vector_store": {"provider": "faiss", "config": store},
                "embedder": {"provider": "langchain", "config": {"model": self.embedder}},
                "history_db_path": str(HOME / f"history{self.number}"),
            }
        )
        for document in documents:
            text = "\n".join(f"{role}: {content}" for role, content in document["turns"])
            place = {"session": document["session"], "turn": document["turn"]}
            self.memory.add([{"role": "user", "content": text}], user_id="u", metadata=place, infer=False)
        return {}

    def search(self, question: str, k: int, abstain: bool) -> dict[str, Any]:
        """Search; to abstain, use its own similarity threshold."""
        far = {} if abstain else {"threshold": 0.0}
        results = self.memory.search(question, top_k=k, filters={"user_id": "u"}, **far)["results"]
        places = ((result["metadata"], result["memory"]) for result in results)
        return {"hits": [[place["session"], place["turn"], text] for place, text in places]}


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
