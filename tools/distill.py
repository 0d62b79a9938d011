"""Make the weights of the bundled embedder: one vector per word piece, taught by all-MiniLM-L6-v2.

python tools/distill.py --model model.onnx --vocab vocab.txt --passages FOLDER --out FOLDER

The folder of passages holds text files, one passage of 3 to 70 words per line. Needs numpy and onnxruntime.

1. Each piece alone and each passage go through the model. What it says of a piece, alone and within passages, is
   where the table starts; what it says of a passage is what the sum of its pieces must come to say.
2. The 256 directions along which passages differ most become the numbers of a vector.
3. One linear map, the same for all pieces, brings the sums as near as it can: rare pieces profit from common ones.
4. Steps of gradient descent turn the sums of passages, and of their halves, towards the passages' vectors. A piece's
   length is its weight, so that is learned as well; a piece that no passage holds keeps its start.
5. Eight bits a number and one scale a piece are kept.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnxruntime

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from engram.llm.wordpiece import END, START, UNKNOWN, WordPiece

Matrix = np.ndarray[Any, np.dtype[np.float32]]
Numbers = np.ndarray[Any, np.dtype[np.int64]]

SEED = 7
WIDTH = 256  # numbers of a vector
LONGEST = 126  # pieces of a passage
RESERVED = 999  # pieces before it are marks, never words
HELD_OUT = 20  # one passage in so many is measured on, never learned from
AT_ONCE = 64  # passages of one run of the model
SPLIT = 16  # pieces of a passage whose halves are lessons of their own
ALONE = 5  # passages that weigh as much as the piece alone
BATCH, EPOCHS, RATE = 1024, 2, 0.02
CALM, SPREAD = 0.9, 0.99  # how long the descent remembers a gradient and its size


class Texts(NamedTuple):
    """Passages as pieces, one after the other, and where each begins."""

    pieces: Numbers
    starts: Numbers

    def sums(self, table: Matrix) -> Matrix:
        """Return the sum of each passage's vectors."""
        found: Matrix = np.add.reduceat(table[self.pieces], self.starts, axis=0)
        return found

    def take(self, rows: Numbers) -> Texts:
        """Return only these passages, in this order."""
        ends = np.append(self.starts[1:], len(self.pieces))
        return joined([self.pieces[self.starts[row] : ends[row]] for row in rows])

    def spread(self, gradient: Matrix, size: int) -> Matrix:
        """Return for each piece of the table the sum of what its passages ask for."""
        counts = np.diff(np.append(self.starts, len(self.pieces)))
        order = np.argsort(self.pieces, kind="stable")
        known, first = np.unique(self.pieces[order], return_index=True)
        found = np.zeros((size, gradient.shape[1]), np.float32)
        found[known] = np.add.reduceat(np.repeat(gradient, counts, axis=0)[order], first, axis=0)
        return found


class Heard(NamedTuple):
    """What the model says: of each text, and summed over each piece's places with how many there were."""

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
        """Return what the model says of these; texts of one length run together."""
        order = sorted(range(len(texts)), key=lambda row: len(texts[row]))
        heard = Heard(*(np.zeros((rows, width), np.float32) for rows, width in self._shapes(len(texts))))
        for first in range(0, len(order), AT_ONCE):
            batch = order[first : first + AT_ONCE]
            self._run([[START, *texts[row], END] for row in batch], batch, heard)
        return heard

    def _shapes(self, count: int) -> tuple[tuple[int, int], ...]:
        return (count, 384), (self._size, 384), (self._size, 1)

    def _run(self, texts: list[list[int]], rows: list[int], heard: Heard) -> None:
        ids = np.zeros((len(texts), len(texts[-1])), np.int64)
        for row, pieces in enumerate(texts):
            ids[row, : len(pieces)] = pieces
        mask = np.arange(ids.shape[1]) < [[len(pieces)] for pieces in texts]
        given = {"input_ids": ids, "attention_mask": mask.astype(np.int64), "token_type_ids": np.zeros_like(ids)}
        said = self._session.run(None, given)[0]
        heard.texts[rows] = (said * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        np.add.at(heard.pieces, ids[mask], said[mask])
        np.add.at(heard.places, ids[mask], 1)


def main() -> int:
    parser = argparse.ArgumentParser(description="Make the weights of the bundled embedder.")
    parser.add_argument("--model", type=Path, required=True, help="all-MiniLM-L6-v2 as ONNX")
    parser.add_argument("--vocab", type=Path, required=True, help="the model's vocabulary, one piece a line")
    parser.add_argument("--passages", type=Path, required=True, help="a folder of text files, one passage a line")
    parser.add_argument("--out", type=Path, required=True, help="where the weights go")
    given = parser.parse_args()
    size = len(given.vocab.read_text(encoding="utf-8").splitlines())
    texts, teacher = read(given.passages, WordPiece(str(given.vocab))), Teacher(given.model, size)
    exam, lessons = texts[: len(texts) // HELD_OUT], texts[len(texts) // HELD_OUT :]
    alone = teacher.hear([[piece] for piece in range(size)]).texts
    save(made(alone, lessons, teacher.hear(lessons), exam, teacher.hear(exam).texts), given.out)
    return 0


def made(alone: Matrix, lessons: list[list[int]], heard: Heard, exam: list[list[int]], right: Matrix) -> Matrix:
    """Return the table learned from these lessons, telling how it does on the exam."""
    vectors = unit(heard.texts)
    middle, basis = directions(vectors)
    wanted = along(vectors, middle, basis)
    table = mapped(start(alone, heard), joined(lessons), wanted)
    pieces, wanted = with_halves(lessons, wanted)
    return taught(table, pieces, wanted, joined(exam), along(unit(right), middle, basis))


def read(folder: Path, pieces: WordPiece) -> list[list[int]]:
    """Return every passage's pieces, each passage once, in an order the seed decides."""
    lines = {line.strip() for path in folder.glob("*.txt") for line in path.read_text("utf-8").splitlines()}
    known = [[each for each in pieces(line, LONGEST) if each != UNKNOWN] for line in sorted(lines)]
    kept = [text for text in known if text]
    return [kept[row] for row in np.random.default_rng(SEED).permutation(len(kept))]


def start(alone: Matrix, heard: Heard) -> Matrix:
    """Return each piece's mean, about the mean of text, weighted by how rare the vocabulary's order says it is."""
    table = (heard.pieces + ALONE * alone) / (heard.places + ALONE)
    often = heard.places[RESERVED:]
    table -= (table[RESERVED:] * often).sum(0) / often.sum()
    table *= np.log(2 + np.maximum(np.arange(len(table), dtype=np.float32) - RESERVED - 1, 0))[:, None]
    table[:RESERVED] = 0
    return table


def directions(vectors: Matrix) -> tuple[Matrix, Matrix]:
    """Return the mean of passages and the directions in which they differ most."""
    middle = vectors.mean(0)
    _, found = np.linalg.eigh(np.cov((vectors - middle).T))
    return middle, found[:, : -WIDTH - 1 : -1].astype(np.float32)


def along(vectors: Matrix, middle: Matrix, basis: Matrix) -> Matrix:
    """Return where vectors lie from the mean, in the table's directions."""
    return unit(((vectors - middle) @ basis).astype(np.float32))


def mapped(table: Matrix, texts: Texts, wanted: Matrix) -> Matrix:
    """Return the table through the linear map that brings the passages' sums nearest to what is wanted."""
    said = unit(np.concatenate([texts.take(part).sums(table) for part in parts(np.arange(len(wanted)))]))
    ridge = 3 * np.eye(table.shape[1], dtype=np.float32)
    found: Matrix = table @ np.linalg.solve(said.T @ said + ridge, said.T @ wanted)
    return found


def with_halves(texts: list[list[int]], wanted: Matrix) -> tuple[Texts, Matrix]:
    """Return the passages and the halves of the longer ones, each half wanting what the whole does."""
    long = [row for row, text in enumerate(texts) if len(text) >= SPLIT]
    first = [texts[row][: len(texts[row]) // 2] for row in long]
    second = [texts[row][len(texts[row]) // 2 :] for row in long]
    return joined(texts + first + second), np.concatenate([wanted, wanted[long], wanted[long]])


def taught(table: Matrix, texts: Texts, wanted: Matrix, exam: Texts, right: Matrix) -> Matrix:
    """Return the table after the descent, telling how near the exam's passages come after each turn."""
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
    """Turns the table by gradients whose size is remembered per piece, so that rare pieces learn as well."""

    def __init__(self, table: Matrix, steps: int) -> None:
        self.table = table.copy()
        self._unit = float(np.sqrt((table[RESERVED:] ** 2).mean()))
        self._mean = np.zeros_like(table)
        self._size = np.zeros((len(table), 1), np.float32)
        self._steps, self._done = steps, 0

    def step(self, texts: Texts, wanted: Matrix) -> None:
        """Turn the passages of one batch towards what is wanted."""
        sums = texts.sums(self.table)
        lengths = np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-6)
        said = sums / lengths
        off = (said * (said * wanted).sum(1, keepdims=True) - wanted) / lengths * self._unit
        self._turn(texts.spread(off / len(wanted), len(self.table)))

    def _turn(self, gradient: Matrix) -> None:
        self._done += 1
        self._mean += (1 - CALM) * (gradient - self._mean)
        self._size += (1 - SPREAD) * ((gradient**2).mean(1, keepdims=True) - self._size)
        mean = self._mean / (1 - CALM**self._done)
        size = np.sqrt(self._size / (1 - SPREAD**self._done)) + 1e-9
        self.table -= RATE * (1.02 - self._done / self._steps) * self._unit * mean / size


def parts(rows: Numbers) -> list[Numbers]:
    """Return the rows in groups of one size; the last may be smaller."""
    return [rows[first : first + BATCH] for first in range(0, len(rows), BATCH)]


def joined(texts: Sequence[Sequence[int] | Numbers]) -> Texts:
    """Return the passages one after the other."""
    ends = np.cumsum([len(text) for text in texts])
    return Texts(np.concatenate(texts).astype(np.int64), np.concatenate([[0], ends[:-1]]))


def unit(rows: Matrix) -> Matrix:
    """Return each row at length 1."""
    found: Matrix = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return found


def save(table: Matrix, folder: Path) -> None:
    """Write eight bits a number and one scale a piece."""
    scales = np.abs(table).max(1) / 127
    scales[scales == 0] = 1
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "static_codes.npy", np.rint(table / scales[:, None]).astype(np.int8))
    np.save(folder / "static_scales.npy", scales.astype(np.float32))


if __name__ == "__main__":
    sys.exit(main())
