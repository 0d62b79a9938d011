"""The profile and the narrative with their sources."""

from __future__ import annotations

import pytest

from engram import Engram, InvalidInput


def test_a_tier_tells_its_version_and_its_maker(engram: Engram) -> None:
    assert engram.get_tier("profile") is None
    engram.set_profile("Lives in Bremen.")
    engram.set_profile("Lives in Oslo.")
    tier = engram.get_tier("profile")
    assert tier is not None
    assert (tier.name, tier.content, tier.version, tier.made_by) == ("profile", "Lives in Oslo.", 2, "given")
    assert engram.get_tier("narrative") is None


def test_what_is_no_tier_is_refused(engram: Engram) -> None:
    with pytest.raises(InvalidInput, match="profile, narrative"):
        engram.get_tier("self")
