"""Our tables in another's TOML file."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.install import toml_block

PATH = ("mcp_servers", "engram")
FACTS = {"command": "/home/me/.local/bin/engram", "args": ["mcp"]}
LINES = st.sampled_from(
    ["", "# note", 'a = 1', "[x]", "[x.y]", "[[z]]", 'k = "v" # why', "[mcp_servers.notes]", 'command = "n"',
     's = """', "[mcp_servers.engram]", '"""', "t = '''", "'''", 'list = [', "  [1],", "]", "[mcp_servers]"]
)  # fmt: skip


@given(st.lists(LINES, max_size=12), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_what_is_put_in_comes_out_to_the_byte(lines: list[str], newline: str, ends: bool) -> None:
    text = newline.join(lines) + (newline if ends and lines else "")
    try:
        held: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    if "engram" in held.get("mcp_servers", {}):
        return
    try:
        put = toml_block.put_table(text, PATH, FACTS)
    except toml_block.TomlEditRefused:
        return  # a refusal is fine, and rare
    assert tomllib.loads(put)["mcp_servers"]["engram"] == FACTS
    if text.strip():
        assert toml_block.remove_table(put, PATH) == text


def test_a_table_with_what_others_added_to_it_goes_whole_and_only_it() -> None:
    text = (
        '[mcp_servers.engram]\ncommand = "engram"\nargs = ["mcp"]\n\n[mcp_servers.engram.env]\nA = "b"\n\n'
        "# about y\n[y]\nz = 1\n"
    )
    assert toml_block.remove_table(text, PATH) == "\n# about y\n[y]\nz = 1\n"


def test_an_older_path_is_replaced_where_it_stands() -> None:
    text = '[mcp_servers.engram] # ours\nenabled = true\ncommand = "/old/engram"\nargs = ["mcp"]\n[y]\n'
    put = toml_block.put_table(text, PATH, FACTS)
    assert put == text.replace("/old/engram", "/home/me/.local/bin/engram")
    assert toml_block.put_table(put, PATH, FACTS) == put


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = {notes = {command = "n"}}\n',
        'mcp_servers = {engram = {command = "engram"}}\n',
        "mcp_servers = 1\n",
    ],
)
def test_what_cannot_be_changed_in_place_is_refused(text: str) -> None:
    with pytest.raises(toml_block.TomlEditRefused):
        toml_block.put_table(text, PATH, FACTS)


def test_damage_is_told_with_its_line() -> None:
    with pytest.raises(toml_block.TomlEditRefused) as told:
        toml_block.put_table("a = 1\nb = \n", PATH, FACTS)
    assert told.value.line == 2


def test_keys_of_any_text_are_quoted() -> None:
    path = ("hooks", "state", 'C:\\Users\\me "x"\\hooks.json:stop:0:0')
    put = toml_block.put_table("", path, {"trusted_hash": "sha256:0"})
    assert toml_block.get_at_path(tomllib.loads(put), path) == {"trusted_hash": "sha256:0"}
    assert toml_block.remove_table(put, path) == ""
