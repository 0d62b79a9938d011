"""Detect passwords on command lines: given with the user, or after a flag of a known program."""

from __future__ import annotations

import re

from engram.redaction.assignments import is_value
from engram.redaction.span import BufferScan

# Which flag of which program takes a password; mysql's has no space after it.
FLAGS = {
    "sshpass": "-p ?", "mysql": "-p", "mariadb": "-p", "redis-cli": "(?:-a|--pass) ", "mongo": "-p ",
    "docker login": "-p ", "podman login": "-p ", "helm registry login": "-p ", "az login": "-p ", "ldapsearch": "-w ",
    "ldapadd": "-w ", "ldapmodify": "-w ", "sqlcmd": "-P ", "unzip": "-P ", "7z": "-p", "xfreerdp": "/p:",
}  # fmt: skip
_LOGIN = re.compile(rb"[\"']?[\w.@+\-]{1,64}+:(?P<value>[^\s\"'\x00\\]{4,128}+)")


def detect_login(scan: BufferScan, _start: int, end: int) -> None:
    """Detect a password given with its user on a command line."""
    _add_password(scan, _LOGIN.match(scan.buffer, end), "login")


def compile_flag_pattern(flag: str) -> re.Pattern[bytes]:
    """Return the pattern for a password after a flag, on one line and within one command."""
    return re.compile(
        rb"[\w\-]{0,12}+(?=[ ])[^\n\x00|;&]{0,200}?[ ]%b(?P<open>[\"'])?"
        rb"(?P<value>(?(open)[^\"'\n\x00\\]{4,128}+|[^\s\"'`\x00\x1b\\|;&<>]{4,128}+))" % flag.encode()
    )


def detect_flag_password(pattern: re.Pattern[bytes], scan: BufferScan, _start: int, end: int) -> None:
    """Detect a password after a program's flag."""
    _add_password(scan, pattern.match(scan.buffer, end), "login")


def _add_password(scan: BufferScan, match: re.Match[bytes] | None, rule: str) -> None:
    if match and is_value(scan, match["value"], True, True):
        scan.add_span(2, rule, *match.span("value"))
