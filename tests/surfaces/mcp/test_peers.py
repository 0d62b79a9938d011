"""The reference MCP client, on stdio and over HTTP, with both protocol versions."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from engram import Engram
from tests.surfaces.http.running import Running

Connect = Callable[[str], AbstractAsyncContextManager[Client]]
ERAS = ["legacy", "auto", "2026-07-28"]


@pytest.fixture
def stdio(tmp_path: Path) -> Connect:
    """Connect to a new `engram mcp` process."""
    env = {"ENGRAM_HOME": str(tmp_path / "home")}
    server = StdioServerParameters(command=sys.executable, args=["-m", "engram", "mcp"], env=env, cwd=tmp_path)
    return lambda era: Client(server, mode=era)


@pytest.fixture
def http(tmp_path: Path) -> Iterator[Connect]:
    """Connect to /mcp of `engram serve` on a loopback port, with its token and a session."""
    running = Running(tmp_path / "home", "0").ready()
    with Engram(tmp_path / "home") as engram:
        me = engram.register("claude", "work", cwd=str(tmp_path))
    headers = {"Authorization": f"Bearer {running.credentials['token']}", "Engram-Session": me}

    @asynccontextmanager
    async def connect(era: str) -> AsyncIterator[Client]:
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http_client:
            transport = streamable_http_client(f"{running.endpoint['url']}/mcp", http_client=http_client)
            async with Client(transport, mode=era) as client:
                yield client

    yield connect
    assert running.end(15) == 0


@pytest.fixture(params=["stdio", "http"])
def connect(request: pytest.FixtureRequest) -> Connect:
    result: Connect = request.getfixturevalue(request.param)
    return result


async def whole_day(connect: Connect, era: str) -> None:
    """Use everything once; the client checks each answer against the protocol and the schema of the tool."""
    async with connect(era) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names == ["recall", "get", "remember", "sitrep", "lock", "unlock", "log", "message", "patterns"]
        kept: Any = await client.call_tool("remember", {"content": "The gateway listens on port 8040."})
        found: Any = await client.call_tool("recall", {"query": "gateway port"})
        assert kept.content[0].text == "Remembered as `x1`."
        assert "`x1`" in found.content[0].text
        assert (found.structured_content, len(found.content)) == (None, 1)
        refused = await client.call_tool("get", {"id": "nonsense"})
        assert refused.is_error
        held: Any = await client.call_tool("lock", {"resources": ["db:users"]})
        assert "You hold `db:users` (exclusive" in held.content[0].text
        pages = (await client.list_resources()).resources
        page: Any = await client.read_resource(pages[0].uri)
        assert "port 8040" in page.contents[0].text
        assert len((await client.list_resource_templates()).resource_templates) == 7
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["sitrep", "handoff"]
        prompt: Any = await client.get_prompt("handoff")
        assert "Hand off this session" in prompt.messages[0].content.text
        with pytest.raises(MCPError):
            await client.read_resource("engram://session/nobody")
        with pytest.raises(MCPError):
            await client.call_tool("destroy", {})


@pytest.mark.parametrize("era", ERAS)
def test_the_reference_client_gets_everything(connect: Connect, era: str) -> None:
    asyncio.run(whole_day(connect, era))


@pytest.mark.parametrize(("era", "version"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
def test_the_era_is_agreed_on_by_itself(connect: Connect, era: str, version: str) -> None:
    async def run() -> None:
        async with connect(era) as client:
            assert client.protocol_version == version
            assert "memory shared by all coding agents" in (client.instructions or "")

    asyncio.run(run())


def test_calls_at_once_are_one_session(stdio: Connect, tmp_path: Path) -> None:
    async def run() -> None:
        async with stdio("auto") as client:
            await asyncio.gather(*(client.call_tool("log", {"entry": f"step {n}"}) for n in range(20)))

    asyncio.run(run())
    with Engram(tmp_path / "home") as engram:
        (found,) = engram.get_active_sessions()
        assert len(engram.get_session_logs(found.id, 50)) == 20
