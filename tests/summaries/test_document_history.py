"""Every version of a document can be listed, read and restored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from engram import Engram, InvalidInput, NotFound
from tests.summaries.talking import passages, said
from tests.summaries.test_gist import TALK

AT = "2026-03-01T10:00:00+00:00"


def write(engram: Engram, document: str, content: str) -> None:
    ways: dict[str, Callable[[], object]] = {
        "gist": lambda: engram.store_summary("one", content),
        "era": lambda: engram.store_era("2026-03", content),
        "profile": lambda: engram.set_profile(content),
        "narrative": lambda: engram.set_narrative(content),
        "self": lambda: engram.set_self_state({"mood": content}),
        "world": lambda: engram.set_world_state(content),
    }
    ways[document]()


def read(engram: Engram, document: str) -> str:
    def era() -> str:
        return engram.list_eras("2026-03")[0].content

    def gist() -> str:
        found = engram.get_summary("one")
        return found.content if found else ""

    ways: dict[str, Any] = {
        "gist": gist, "era": era, "profile": engram.get_profile, "narrative": engram.get_narrative,
        "self": lambda: engram.get_self_state()["mood"], "world": engram.get_world_state,
    }  # fmt: skip
    return str(ways[document]())


NAMES = {"gist": "one", "era": "2026-03"}


@pytest.mark.parametrize("document", ["gist", "era", "profile", "narrative", "self", "world"])
def test_versions_are_listed_read_and_brought_back(engram: Engram, document: str) -> None:
    """LY-B09."""
    said(engram, "one", AT, *TALK)
    write(engram, document, "First words.")
    write(engram, document, "Second\nthoughts.")
    name = NAMES.get(document)
    versions = engram.list_versions(document, name)
    assert [(version.document, version.version, version.content) for version in versions] == [
        (document, 2, ""),
        (document, 1, ""),
    ]
    assert versions[0].author == "person"
    assert versions[0].begins.startswith("Second" if document != "self" else '{"mood"')
    old = engram.get_version(document, 1, name)
    assert "First words." in old.content
    assert (old.size, old.begins) == (len(old.content), old.content)
    back = engram.restore_version(document, 1, name)
    assert (back.version, read(engram, document)) == (3, "First words.")
    engram.restore_version(document, 2, name)
    assert read(engram, document) == "Second\nthoughts."
    assert len(engram.list_versions(document, name)) == 4
    assert engram.restore_version(document, 4, name).version == 4  # it is the current version
    engram.integrate()
    assert read(engram, document) == "Second\nthoughts."


def test_who_wrote_a_version_is_told_and_stays_known_when_it_comes_back(engram: Engram) -> None:
    said(engram, "one", AT, *TALK)
    engram.summarize()
    engram.store_summary("one", "They fixed it.")
    engram.restore_version("gist", 1, "one")
    versions = engram.list_versions("gist", "one")
    assert [version.author for version in versions] == ["extract", "person", "extract"]
    assert "nested lists" in passages(engram, "gist")["one"]
    engram.restore_version("gist", 2, "one")
    assert passages(engram, "gist")["one"] == "They fixed it."


def test_what_is_not_there_is_named(engram: Engram) -> None:
    said(engram, "one", AT, *TALK)
    assert engram.list_versions("profile") == []
    with pytest.raises(NotFound, match="profile"):
        engram.get_version("profile", 1)
    with pytest.raises(NotFound, match="gist"):
        engram.restore_version("gist", 7, "one")
    with pytest.raises(InvalidInput, match="Choose one of: gist, era, profile"):
        engram.list_versions("poem")
    with pytest.raises(InvalidInput, match="session"):
        engram.list_versions("gist")


@pytest.mark.parametrize("version", [0, -1, 9, 1 << 40])
@pytest.mark.parametrize(
    ("document", "name"),
    [("gist", "The gist one"), ("era", "The era 2026-03"), ("profile", "The profile"), ("narrative", "The narrative"),
     ("self", "The self state"), ("world", "The world state")],
)  # fmt: skip
def test_a_version_that_is_not_there_is_refused(engram: Engram, document: str, name: str, version: int) -> None:
    said(engram, "one", AT, *TALK)
    write(engram, document, "First words.")
    for ask in (engram.get_version, engram.restore_version):
        with pytest.raises(NotFound, match=f"^{name} has no version {version}\\."):
            ask(document, version, NAMES.get(document))
    if document == "world":
        with pytest.raises(NotFound, match=f"^{name} has no version {version}\\."):
            engram.world_state(version=version)
        with pytest.raises(NotFound, match=f"^{name} has no version {version}\\."):
            engram.world_diff(1, version)
