"""Train the bundled embedder: one vector per word piece, distilled from all-MiniLM-L6-v2.

python tools/distill.py --model model.onnx --vocab vocab.txt --passages FOLDER --out FOLDER

The folder of passages has text files, one passage of 3 to 70 words per line. Needs numpy and onnxruntime.

1. The model embeds each piece alone and each passage. The vectors of a piece, alone and within passages, initialize the
   table; the vector of a passage is the target for the sum of its pieces.
2. A principal component analysis of the passages reduces vectors to 256 dimensions.
3. One linear map for all pieces brings the sums closest to their targets, so that rare pieces profit from common ones.
4. Gradient descent turns the sums of passages, and of their halves, towards the targets. The length of a vector is the
   weight of its piece, so weights are learned too; pieces that occur in no passage keep their initial vector.
5. The table is quantized to eight bits per number and one scale per piece.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # onnxruntime sends telemetry unless this is set before it is loaded
import onnxruntime

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from engram.models.wordpiece import END, START, UNKNOWN, WordPiece

Matrix = np.ndarray[Any, np.dtype[np.float32]]
Numbers = np.ndarray[Any, np.dtype[np.int64]]

SEED = 7
WIDTH = 256  # dimensions of a vector
LONGEST = 126  # maximum pieces of a passage
RESERVED = 999  # earlier pieces are special tokens, not words
HELD_OUT = 20  # one in this many passages is for validation
AT_ONCE = 64  # batch size for the model
SPLIT = 16  # minimum pieces of a passage whose halves are also trained on
ALONE = 5  # weight of the piece alone, in occurrences
BATCH, EPOCHS, RATE = 1024, 2, 0.02
CALM, SPREAD = 0.9, 0.99  # decay of the mean gradient and of its mean square


class Texts(NamedTuple):
    """The pieces of all passages in one array, and where each passage starts."""

    pieces: Numbers
    starts: Numbers

    def sums(self, table: Matrix) -> Matrix:
        """Return the sum of each passage's vectors."""
        sums: Matrix = np.add.reduceat(table[self.pieces], self.starts, axis=0)
        return sums

    def take(self, rows: Numbers) -> Texts:
        """Return the passages in these rows, in this order."""
        ends = np.append(self.starts[1:], len(self.pieces))
        return joined([self.pieces[self.starts[row] : ends[row]] for row in rows])

    def spread(self, gradient: Matrix, size: int) -> Matrix:
        """Return the gradient of each piece: the sum of the gradients of its passages."""
        counts = np.diff(np.append(self.starts, len(self.pieces)))
        order = np.argsort(self.pieces, kind="stable")
        known, first = np.unique(self.pieces[order], return_index=True)
        per_piece = np.zeros((size, gradient.shape[1]), np.float32)
        per_piece[known] = np.add.reduceat(np.repeat(gradient, counts, axis=0)[order], first, axis=0)
        return per_piece


class Heard(NamedTuple):
    """Vectors from the model: per text, and per piece summed over its occurrences, with their count."""

    texts: Matrix
    pieces: Matrix
    places: Matrix


class Teacher:
    """Runs the model on one core."""

    def __init__(self, path: Path, size: int) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self._size = size

    def hear(self, texts: list[list[int]]) -> Heard:
        """Return the model's vectors of these texts; texts of similar length share a batch."""
        order = sorted(range(len(texts)), key=lambda row: len(texts[row]))
        result = Heard(*(np.zeros((rows, width), np.float32) for rows, width in self._shapes(len(texts))))
        for first in range(0, len(order), AT_ONCE):
            batch = order[first : first + AT_ONCE]
            self._run([[START, *texts[row], END] for row in batch], batch, result)
        return result

    def _shapes(self, count: int) -> tuple[tuple[int, int], ...]:
        return (count, 384), (self._size, 384), (self._size, 1)

    def _run(self, texts: list[list[int]], rows: list[int], heard: Heard) -> None:
        ids = np.zeros((len(texts), len(texts[-1])), np.int64)
        for row, pieces in enumerate(texts):
            ids[row, : len(pieces)] = pieces
        mask = np.arange(ids.shape[1]) < [[len(pieces)] for pieces in texts]
        inputs = {"input_ids": ids, "attention_mask": mask.astype(np.int64), "token_type_ids": np.zeros_like(ids)}
        vectors = self._session.run(None, inputs)[0]
        heard.texts[rows] = (vectors * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        np.add.at(heard.pieces, ids[mask], vectors[mask])
        np.add.at(heard.places, ids[mask], 1)


def main() -> int:
    parser = argparse.ArgumentParser(description="Train the bundled embedder.")
    parser.add_argument("--model", type=Path, required=True, help="all-MiniLM-L6-v2 as ONNX")
    parser.add_argument("--vocab", type=Path, required=True, help="vocabulary of the model, one piece per line")
    parser.add_argument("--passages", type=Path, required=True, help="directory of text files, one passage per line")
    parser.add_argument("--out", type=Path, required=True, help="directory to write the weights to")
    options = parser.parse_args()
    size = len(options.vocab.read_text(encoding="utf-8").splitlines())
    texts, teacher = read(options.passages, WordPiece(str(options.vocab))), Teacher(options.model, size)
    exam, lessons = texts[: len(texts) // HELD_OUT], texts[len(texts) // HELD_OUT :]
    alone = teacher.hear([[piece] for piece in range(size)]).texts
    save(made(alone, lessons, teacher.hear(lessons), exam, teacher.hear(exam).texts), options.out)
    return 0


def made(alone: Matrix, lessons: list[list[int]], heard: Heard, exam: list[list[int]], right: Matrix) -> Matrix:
    """Train a table on the lessons and print how it does on the held-out passages."""
    vectors = unit(heard.texts)
    middle, basis = directions(vectors)
    wanted = along(vectors, middle, basis)
    table = mapped(start(alone, heard), joined(lessons), wanted)
    pieces, wanted = with_halves(lessons, wanted)
    return taught(table, pieces, wanted, joined(exam), along(unit(right), middle, basis))


def read(folder: Path, pieces: WordPiece) -> list[list[int]]:
    """Return the pieces of every distinct passage, in an order that depends on the seed."""
    lines = {line.strip() for path in folder.glob("*.txt") for line in path.read_text("utf-8").splitlines()}
    known = [[piece for piece in pieces(line, LONGEST) if piece != UNKNOWN] for line in sorted(lines)]
    texts = [text for text in known if text]
    return [texts[row] for row in np.random.default_rng(SEED).permutation(len(texts))]


def start(alone: Matrix, heard: Heard) -> Matrix:
    """Return the initial table: the mean vector of each piece, centred, and weighted by its rank in the vocabulary."""
    table = (heard.pieces + ALONE * alone) / (heard.places + ALONE)
    often = heard.places[RESERVED:]
    table -= (table[RESERVED:] * often).sum(0) / often.sum()
    table *= np.log(2 + np.maximum(np.arange(len(table), dtype=np.float32) - RESERVED - 1, 0))[:, None]
    table[:RESERVED] = 0
    return table


def directions(vectors: Matrix) -> tuple[Matrix, Matrix]:
    """Return the mean and the principal components of the passages."""
    middle = vectors.mean(0)
    _, components = np.linalg.eigh(np.cov((vectors - middle).T))
    return middle, components[:, : -WIDTH - 1 : -1].astype(np.float32)


def along(vectors: Matrix, middle: Matrix, basis: Matrix) -> Matrix:
    """Project vectors onto the principal components and normalize them."""
    return unit(((vectors - middle) @ basis).astype(np.float32))


def mapped(table: Matrix, texts: Texts, wanted: Matrix) -> Matrix:
    """Apply the linear map that brings the sums of passages closest to their targets (ridge regression)."""
    sums = unit(np.concatenate([texts.take(part).sums(table) for part in parts(np.arange(len(wanted)))]))
    ridge = 3 * np.eye(table.shape[1], dtype=np.float32)
    solution: Matrix = table @ np.linalg.solve(sums.T @ sums + ridge, sums.T @ wanted)
    return solution


def with_halves(texts: list[list[int]], wanted: Matrix) -> tuple[Texts, Matrix]:
    """Add the halves of the longer passages, with the target of the whole passage."""
    long = [row for row, text in enumerate(texts) if len(text) >= SPLIT]
    first = [texts[row][: len(texts[row]) // 2] for row in long]
    second = [texts[row][len(texts[row]) // 2 :] for row in long]
    return joined(texts + first + second), np.concatenate([wanted, wanted[long], wanted[long]])


def taught(table: Matrix, texts: Texts, wanted: Matrix, exam: Texts, right: Matrix) -> Matrix:
    """Train the table by gradient descent and print the held-out cosine after each epoch."""
    random = np.random.default_rng(SEED)
    descent = Descent(table, EPOCHS * (len(wanted) // BATCH))
    for epoch in range(EPOCHS):
        for batch in parts(random.permutation(len(wanted))):
            if len(batch) == BATCH:
                descent.step(texts.take(batch), wanted[batch])
        near = (unit(exam.sums(descent.table)) * right).sum(1).mean()
        print(f"epoch {epoch + 1} of {EPOCHS}: held-out cosine {near:.4f}", flush=True)
    return descent.table


class Descent:
    """Gradient descent with a step size per piece, so that rare pieces learn as well."""

    def __init__(self, table: Matrix, steps: int) -> None:
        self.table = table.copy()
        self._unit = float(np.sqrt((table[RESERVED:] ** 2).mean()))
        self._mean = np.zeros_like(table)
        self._size = np.zeros((len(table), 1), np.float32)
        self._steps, self._done = steps, 0

    def step(self, texts: Texts, wanted: Matrix) -> None:
        """Turn the passages of one batch towards their targets."""
        sums = texts.sums(self.table)
        lengths = np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-6)
        units = sums / lengths
        off = (units * (units * wanted).sum(1, keepdims=True) - wanted) / lengths * self._unit
        self._turn(texts.spread(off / len(wanted), len(self.table)))

    def _turn(self, gradient: Matrix) -> None:
        self._done += 1
        self._mean += (1 - CALM) * (gradient - self._mean)
        self._size += (1 - SPREAD) * ((gradient**2).mean(1, keepdims=True) - self._size)
        mean = self._mean / (1 - CALM**self._done)
        size = np.sqrt(self._size / (1 - SPREAD**self._done)) + 1e-9
        self.table -= RATE * (1.02 - self._done / self._steps) * self._unit * mean / size


def parts(rows: Numbers) -> list[Numbers]:
    """Split the rows into batches; the last one may be smaller."""
    return [rows[first : first + BATCH] for first in range(0, len(rows), BATCH)]


def joined(texts: Sequence[Sequence[int] | Numbers]) -> Texts:
    """Join passages into one array."""
    ends = np.cumsum([len(text) for text in texts])
    return Texts(np.concatenate(texts).astype(np.int64), np.concatenate([[0], ends[:-1]]))


def unit(rows: Matrix) -> Matrix:
    """Scale each row to length 1."""
    scaled: Matrix = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return scaled


def save(table: Matrix, folder: Path) -> None:
    """Write the table as eight bits per number and one scale per piece."""
    scales = np.abs(table).max(1) / 127
    scales[scales == 0] = 1
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "static_codes.npy", np.rint(table / scales[:, None]).astype(np.int8))
    np.save(folder / "static_scales.npy", scales.astype(np.float32))


if __name__ == "__main__":
    sys.exit(main())
