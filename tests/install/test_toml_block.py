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
     "[[mcp_servers.notes.tools]]", "  [ 'x' . \"q\" ] # why", "\t# note", "u.v = 1", "  ",
     's = """', "[mcp_servers.engram]", '"""', "t = '''", "'''", 'list = [', "  [1],", "]", "[mcp_servers]"]
)  # fmt: skip


@given(st.lists(LINES, max_size=12), st.sampled_from(["\n", "\r\n"]), st.booleans(), st.sampled_from(["", "\ufeff"]))
def test_what_is_put_in_comes_out_to_the_byte(lines: list[str], newline: str, ends: bool, bom: str) -> None:
    text = bom + newline.join(lines) + (newline if ends and lines else "")
    try:
        held: dict[str, Any] = toml_block.parse_toml(text)
    except toml_block.TomlEditRefused:
        return
    if "engram" in held.get("mcp_servers", {}):
        return
    try:
        put = toml_block.put_table(text, PATH, FACTS)
    except toml_block.TomlEditRefused:
        return  # a refusal is fine, and rare
    assert toml_block.parse_toml(put)["mcp_servers"]["engram"] == FACTS
    if text.strip("\ufeff\r\n \t"):
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
    ("text", "expected"),
    [
        ('[mcp_servers.engram]\ncommand = [\n  "old",\n] # mine\nargs = ["mcp"]\n',
         '[mcp_servers.engram]\ncommand = "/home/me/.local/bin/engram" # mine\nargs = ["mcp"]\n'),
        ('[mcp_servers.engram]\r\n  command = "a#b"\t# it\'s "ours"\r\nargs = ["mcp"]',
         '[mcp_servers.engram]\r\n  command = "/home/me/.local/bin/engram"\t# it\'s "ours"\r\nargs = ["mcp"]'),
        ('\ufeff[mcp_servers."engram"]\nargs = ["mcp"]',
         '\ufeff[mcp_servers."engram"]\ncommand = "/home/me/.local/bin/engram"\nargs = ["mcp"]'),
        ('[mcp_servers.engram]', '[mcp_servers.engram]\ncommand = "/home/me/.local/bin/engram"\nargs = ["mcp"]'),
    ],
)  # fmt: skip
def test_only_the_values_that_differ_are_written_and_comments_stay(text: str, expected: str) -> None:
    assert toml_block.put_table(text, PATH, FACTS) == expected


def test_an_array_of_tables_between_servers_stays_where_it_is() -> None:
    text = '[mcp_servers.notes]\ncommand = "n"\n\n[[profiles]]\nname = "a"\n'
    put = toml_block.put_table(text, PATH, FACTS)
    assert put.startswith(text)
    assert toml_block.remove_table(put, PATH) == text


@pytest.mark.parametrize("text", ["\n[x.y]\n[mcp_servers.engram]", "args = [\n]\n[mcp_servers.engram]"])
def test_a_table_in_the_last_unfinished_line_is_removed_alone(text: str) -> None:
    assert toml_block.remove_table(text, PATH) == text.removesuffix("[mcp_servers.engram]")


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
