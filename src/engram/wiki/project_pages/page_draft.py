"""A page of a project before its place in the vault is known. Pure."""

from __future__ import annotations

from engram.platform.value import value

PROJECT, DECISIONS, ERROR, SUBSYSTEM = "project", "decisions", "error", "subsystem"
RULES = "rules/3"  # increase when the same evidence gives a different page
RULES_PREFIX = "rules/"


@value
class PageDraft:
    """A page as the rules build it, without its links to other pages."""

    kind: str
    key: str  # the same for the same thing, however often it is compiled
    title: str
    file_title: str  # what its file name is made of
    summary: str  # for the index
    top: str  # the first paragraph
    sections: tuple[tuple[str, tuple[str, ...]], ...]  # headings and their lines
    sources: tuple[str, ...]  # logs, and sessions that are in no log
    days: tuple[str, ...]  # the first and the last day of its evidence
    related: tuple[str, ...] = ()  # keys of related pages
