"""The files of a tool call are found for every agent."""

from __future__ import annotations

import pytest

from engram.surfaces.hooks import tool_files

PATCH = "*** Begin Patch\n*** Update File: src/app.py\n@@\n-a\n+b\n*** End Patch"


@pytest.mark.parametrize(
    "given",
    [
        {"command": PATCH},
        {"command": ["apply_patch", PATCH]},
        {"input": PATCH.replace("\n", "\r\n")},
        {"patchText": PATCH.replace("*** Update", "  *** Update")},
        {"command": f"apply_patch <<'EOF'\n{PATCH}\nEOF"},
        {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}\nEOF"], "workdir": "/"},
    ],
)
@pytest.mark.parametrize("tool", ["apply_patch", "shell"])
def test_a_patch_names_its_files_in_every_shape(tool: str, given: dict[str, object]) -> None:
    assert tool_files.list_edited_files(tool, given) == ["src/app.py"]


@pytest.mark.parametrize("given", [{"command": 7}, {"command": [1, None]}, {"paths": [1, {}, "", " ", "a\0b"]}, {}])
def test_a_call_without_a_file_is_not_an_edit(given: dict[str, object]) -> None:
    assert tool_files.list_edited_files("apply_patch", given) == []
