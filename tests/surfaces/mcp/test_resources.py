"""Resources and prompts."""

from __future__ import annotations

import pytest

from engram import Engram, NotFound
from engram.platform.text import count_tokens
from engram.surfaces.mcp import prompts, resources
from engram.surfaces.mcp.caller import Caller
from engram.surfaces.mcp.protocol import BAD_PARAMS, NO_RESOURCE, Fault
from engram.surfaces.mcp.resource_templates import TEMPLATES

REMOTE = Caller(environ={}, is_local=False)


def remembered(engram: Engram, session: str = "s-1", said: str = "The gateway listens on port 8040.") -> str:
    engram.remember(session, "user", said)
    return session


def read(engram: Engram, uri: str, caller: Caller = REMOTE) -> str:
    (page,) = resources.read_resource(engram, caller, uri, modern=True)["contents"]
    assert (page["uri"], page["mimeType"]) == (uri, "text/markdown")
    return str(page["text"])


def test_an_empty_memory_lists_no_pages(engram: Engram) -> None:
    assert resources.list_resources(engram, REMOTE, None) == {"resources": []}


def test_every_page_that_is_listed_can_be_read(engram: Engram) -> None:
    remembered(engram)
    engram.store_summary("s-1", "The gateway was moved.")
    engram.store_era("2026-11", "A month of gateways.", 1)
    engram.set_profile("Likes short answers.", 1)
    engram.set_narrative("The gateway moves.")
    engram.set_world_state("# World")
    engram.set_world_state("# Here", project="/p/a b")
    me = Caller(environ={}, header_session=engram.register("claude", "work", project="/p/a b"), is_local=False)
    uris = [resource["uri"] for resource in resources.list_resources(engram, me, None)["resources"]]
    assert uris == [
        "engram://world", "engram://world/%2Fp%2Fa%20b", "engram://profile", "engram://narrative",
        "engram://era/2026-11", "engram://session/s-1",
    ]  # fmt: skip
    pages = [read(engram, uri, me) for uri in uris]
    told = ["# World", "# Here", "| Likes short", "| The gateway moves.", "| A month of", "| The gateway was moved."]
    for page, words in zip(pages, told, strict=True):
        assert words in page
    assert "| The gateway listens on port 8040." in pages[-1]
    assert "| The gateway was moved." in read(engram, "engram://gist/s-1", me)


def test_a_long_list_is_paged_without_repeats(engram: Engram) -> None:
    for n in range(120):
        remembered(engram, f"s-{n}")
    seen: list[str] = []
    cursor: str | None = None
    for _ in range(4):
        result = resources.list_resources(engram, REMOTE, cursor)
        seen += [resource["uri"] for resource in result["resources"]]
        cursor = result.get("nextCursor")
        if cursor is None:
            break
    assert cursor is None
    assert len(seen) == len(set(seen)) == 120


def test_a_long_page_is_cut_and_says_where_the_rest_is(engram: Engram) -> None:
    remembered(engram, said="\n".join(f"line {n} of a long story" for n in range(3000)))
    page = read(engram, "engram://session/s-1")
    assert count_tokens(page) < 4100
    assert "the tool get, id engram://session/s-1" in page


@pytest.mark.parametrize(
    "uri",
    ["engram://session/nobody", "engram://rumour/1", "file:///etc/passwd", "", "engram://era/1999-01", "engram://gist/x",
     "engram://session/", "engram://world/%00", "engram://profile"],
)  # fmt: skip
@pytest.mark.parametrize(("modern", "code"), [(True, BAD_PARAMS), (False, NO_RESOURCE)])
def test_a_missing_page_is_reported_as_missing(engram: Engram, uri: str, modern: bool, code: int) -> None:
    with pytest.raises(Fault) as fault:
        resources.read_resource(engram, REMOTE, uri, modern=modern)
    assert (fault.value.code, fault.value.data) == (code, {"uri": uri})


def test_a_uri_that_is_not_a_string_is_refused(engram: Engram) -> None:
    with pytest.raises(Fault, match="string"):
        resources.read_resource(engram, REMOTE, 7, modern=True)


def test_a_tool_without_pages_reaches_them_by_address(engram: Engram) -> None:
    from engram.surfaces.mcp.handlers import call_tool

    remembered(engram)
    result = call_tool(lambda: engram, REMOTE, "get", {"id": "engram://session/s-1"})
    assert "port 8040" in result["content"][0]["text"]


def test_every_template_names_a_kind_of_page() -> None:
    assert {template["name"] for template in TEMPLATES} <= set(resources.KINDS)


def test_the_sitrep_prompt_brings_the_sitrep(engram: Engram) -> None:
    engram.set_world_state("# All quiet")
    assert "# All quiet" in prompts.build_prompt(engram, REMOTE, "sitrep")


def test_the_handoff_prompt_shows_the_world_state_and_its_version(engram: Engram) -> None:
    me = engram.register("claude", "work", project="/p")
    caller = Caller(environ={}, header_session=me, is_local=False)
    assert "(none yet)" in prompts.build_prompt(engram, caller, "handoff")
    engram.set_world_state("# Halfway there", me, project="/p")
    text = prompts.build_prompt(engram, caller, "handoff")
    assert "--expected-version 1 --project ." in text
    assert "| # Halfway there" in text


def test_a_world_that_was_never_written_is_not_found(engram: Engram) -> None:
    with pytest.raises(NotFound):
        resources.read_page(engram, REMOTE, "engram://world")


def test_pages_of_the_wiki_are_listed_and_read_quoted(engram: Engram) -> None:
    from engram.wiki.vault import vault

    home = vault.open_vault(engram)
    assert home.write("concepts/kafka", "# Kafka\n\nThree nodes.\n", None)
    assert home.write("daily/2026-11-09", "# Daily Log: 2026-11-09\n", None)
    uris = [resource["uri"] for resource in resources.list_resources(engram, REMOTE, None)["resources"]]
    assert uris == ["engram://article/concepts%2Fkafka", "engram://daily/2026-11-09"]
    assert "| Three nodes." in read(engram, uris[0])
    assert "| Three nodes." in read(engram, "engram://article/concepts/kafka")
    assert "| # Daily Log" in read(engram, uris[1])
    for uri in ("engram://article/daily/2026-11-09", "engram://article/concepts/..%2F..%2Fx", "engram://daily/../x"):
        with pytest.raises(Fault):
            read(engram, uri)
