"""A user's home whose Claude sessions grow; what was written into each transcript is known by heart."""

from __future__ import annotations

import json
import random
import uuid
from pathlib import Path

WORDS = ("garden", "window", "bridge", "silver", "forest", "candle", "market", "winter", "yellow", "harbor")
LENGTH = 80  # words of a message: all are equally long, so that the size of a body tells how many it holds
ALIVE = 8  # sessions that grow at a time


def text(session: int, number: int) -> str:
    """Return what a message says."""
    chance = random.Random(f"{session}/{number}")
    return f"s{session:04}n{number:06} " + " ".join(chance.choices(WORDS, k=LENGTH))


class Home:
    """The transcripts and how far each has come."""

    def __init__(self, root: Path, seed: int, most: int = 200) -> None:
        self.root, self.most = root, most
        self.chance = random.Random(f"{seed}/home")
        self.written: dict[str, int] = {}  # the agent's id of a session → whole lines in its transcript
        self._numbers: dict[str, int] = {}
        self._halves: dict[str, str] = {}  # what is still missing of a line begun
        self.place = root / ".claude" / "projects" / "-work-app"
        self.place.mkdir(parents=True)

    def grow(self) -> None:
        """Let something happen in one session: a few lines, or a line and a half."""
        name = self._session()
        self._finish(name)
        lines = [self._line(name) for _ in range(self.chance.choice((1, 1, 2, 4, 12)))]
        half = self._line(name) if self.chance.random() < 0.2 else ""
        cut = len(half) // 2
        self._append(name, "".join(lines) + half[:cut])
        self.written[name] += len(lines)
        if half:
            self._halves[name] = half[cut:]

    def settle(self) -> None:
        """Finish every line that was begun."""
        for name in list(self._halves):
            self._finish(name)

    def said(self, name: str, number: int) -> str:
        """Return what the transcript of a session says in a line."""
        return text(self._numbers[name], number)

    def _session(self) -> str:
        alive = list(self.written)[-ALIVE:]
        if not alive or (self.chance.random() < 0.03 and len(self.written) < self.most):
            name = str(uuid.UUID(int=self.chance.getrandbits(128)))
            self._numbers[name], self.written[name] = len(self.written), 0
            return name
        return self.chance.choice(alive)

    def _line(self, name: str) -> str:
        number = self.written[name] + self._begun(name)
        said = {"role": "user", "content": text(self._numbers[name], number)}
        record = {
            "type": "user", "uuid": str(uuid.uuid5(uuid.NAMESPACE_OID, f"{name}{number}")), "sessionId": name,
            "timestamp": f"2026-11-01T10:{number // 60 % 60:02}:{number % 60:02}.000Z", "cwd": "/work/app",
            "version": "2.1.200", "message": said,
        }  # fmt: skip
        return json.dumps(record) + "\n"
