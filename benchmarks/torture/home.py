"""A home directory with growing Claude transcripts of known content."""

from __future__ import annotations

import json
import random
import uuid
from pathlib import Path

WORDS = ("garden", "window", "bridge", "silver", "forest", "candle", "market", "winter", "yellow", "harbor")
LENGTH = 80  # words per message: all have the same length, so that the size of a body gives the number of messages
ALIVE = 16  # sessions that grow at the same time


def text(session: int, number: int) -> str:
    """Return the text of a message."""
    chance = random.Random(f"{session}/{number}")
    return f"s{session:04}n{number:06} " + " ".join(chance.choices(WORDS, k=LENGTH))


class Home:
    """The transcripts and their lengths."""

    def __init__(self, root: Path, seed: int, most: int = 1000) -> None:
        self.root, self.most = root, most
        self.chance = random.Random(f"{seed}/home")
        self.written: dict[str, int] = {}  # the agent's session id → complete lines in its transcript
        self._numbers: dict[str, int] = {}
        self._rest: dict[str, str] = {}  # the missing rest of an incomplete line
        self._place = root / ".claude" / "projects" / "-home-me-app"
        self._place.mkdir(parents=True)

    def grow(self) -> None:
        """Append a few lines to one session, sometimes with an incomplete last line."""
        name = self._session()
        self._finish(name)
        count, half = self.chance.choice((1, 1, 2, 4, 12)), self.chance.random() < 0.2
        begun = self.written[name]
        lines = [self._line(name, number) for number in range(begun, begun + count + half)]
        rest = lines[-1][len(lines[-1]) // 2 :] if half else ""
        self._append(name, "".join(lines).removesuffix(rest))
        self.written[name] += count
        if half:
            self._rest[name] = rest

    def settle(self) -> None:
        """Complete all incomplete lines."""
        for name in list(self._rest):
            self._finish(name)

    def message(self, name: str, number: int) -> str:
        """Return the text of a line of a session's transcript."""
        return text(self._numbers[name], number)

    def _session(self) -> str:
        alive = list(self.written)[-ALIVE:]
        if alive and (self.chance.random() > 0.01 or len(self.written) >= self.most):
            return self.chance.choice(alive)
        name = str(uuid.UUID(int=self.chance.getrandbits(128)))
        self._numbers[name], self.written[name] = len(self.written), 0
        return name

    def _finish(self, name: str) -> None:
        if name in self._rest:
            self._append(name, self._rest.pop(name))
            self.written[name] += 1

    def _append(self, name: str, lines: str) -> None:
        with open(self._place / f"{name}.jsonl", "a", encoding="utf-8") as file:
            file.write(lines)

    def _line(self, name: str, number: int) -> str:
        record = {
            "type": "user", "uuid": str(uuid.uuid5(uuid.NAMESPACE_OID, f"{name}{number}")), "sessionId": name,
            "timestamp": f"2026-11-01T10:{number // 60 % 60:02}:{number % 60:02}.000Z", "cwd": "/home/me/app",
            "version": "2.1.200", "message": {"role": "user", "content": text(self._numbers[name], number)},
        }  # fmt: skip
        return json.dumps(record) + "\n"
