"""A server in its own process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx

PROGRAM = """
import sys
from engram.errors import Error
from engram.settings import load_settings
from engram.surfaces.encode import to_json
from engram.surfaces.http.server import serve

port = int(sys.argv[1]) if sys.argv[1:] else None
try:
    serve(load_settings(), port=port, announce=lambda endpoint: print(to_json(endpoint), flush=True))
except Error as refusal:
    sys.exit(f"{refusal.code}: {refusal}")
"""


class Running:
    """A server in its own process."""

    def __init__(self, home: Path, *words: str, store: str | None = None) -> None:
        self.home = home
        environment = os.environ | {"ENGRAM_HOME": str(home)} | ({"ENGRAM_STORE": store} if store else {})
        pipe = subprocess.PIPE
        command = [sys.executable, "-c", PROGRAM, *words]
        self.process = subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True)

    def ready(self) -> Running:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(self.process.communicate()[1])
        self.endpoint: dict[str, Any] = json.loads(line)
        return self

    def client(self, **headers: str) -> httpx.Client:
        if self.endpoint["url"]:
            return httpx.Client(base_url=self.endpoint["url"], headers=headers, timeout=60)
        transport = httpx.HTTPTransport(uds=self.endpoint["socket"])
        return httpx.Client(transport=transport, base_url="http://engram", headers=headers, timeout=60)

    def call(self, operation: str, **arguments: Any) -> Any:
        with self.client() as client:
            answer = client.post(f"/api/{operation}", json=arguments)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def end(self, number: int) -> int:
        self.process.send_signal(number)
        return self.process.wait(60)

    @property
    def credentials(self) -> dict[str, Any]:
        data: dict[str, Any] = json.loads((self.home / "serve.json").read_text())
        return data
