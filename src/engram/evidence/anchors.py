"""Anchors: the files and symbols that a text is about, and whether their code is still as it was. Pure."""

from __future__ import annotations

import re

FRESH, DRIFTED, GONE = "fresh", "drifted", "gone"
DECIDED, CHANGED = 3, 2  # how strongly a case is tied to a file or symbol

_PATH = re.compile(
    r"(?<![\w@/.-])(?:[A-Za-z]:[\\/]|~?/|\.{1,2}/)?(?:[\w@+-][\w.@+-]*[\\/])*"
    r"[\w@+-][\w.@+-]*\.[A-Za-z]\w{0,7}(?![\w/(-])"
)
_URL = re.compile(r"\b\w+://\S+")
_EXTENSIONS = frozenset(
    """py pyi js jsx ts tsx mjs cjs go rs rb php java kt kts scala swift c h cc cpp hpp cs m mm ex exs erl hs ml clj lua
    r jl dart vue svelte astro css scss less html htm xml json jsonc yaml yml toml ini cfg conf env md mdx rst txt sql
    sh bash zsh fish ps1 bat tf proto graphql gql lock gradle cmake mk nix zig sol ipynb csv""".split()
)
_BARE_FILES = re.compile(r"(?<![\w/.-])(?:Makefile|Dockerfile|Justfile|Gemfile|Rakefile|Procfile)(?![\w/])")
_SYMBOL = re.compile(
    r"\b[A-Za-z_]\w*(?=\(\))|\b[A-Za-z]\w*_\w+\b|\b[a-z]+[a-z0-9]*[A-Z]\w*|\b(?:[A-Z][a-z0-9]+){2,}\w*|"
    r"(?<=`)[A-Za-z_]\w{2,}(?=`)|(?<=`\.)[A-Za-z_]\w{2,}(?=`)|(?<=\w\.)[a-z_]\w{3,}(?=[`(])"
)
_LONGEST = 80
_PRODUCTS = frozenset(  # names of products, written like identifiers
    """github gitlab bitbucket youtube linkedin javascript typescript postgresql mysql sqlite mongodb openai chatgpt
    iphone ipad macos ios vscode intellij powershell webassembly graphql fastapi devops facebook whatsapp paypal
    airbnb wordpress tiktok deepseek langchain pytorch tensorflow nodejs nextjs autocad xbox playstation doordash
    mcdonald oauth dockerhub stackoverflow codecov dynamodb bigquery cloudflare""".split()
)
_MODIFIER = (
    r"(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|pub(?:\([^)]*\))?|unsafe|"
    r"override|open|sealed|data|inline|extern|declare)[ \t]+)*"
)
_KEYWORD = (
    r"(?:def|class|func|function\*?|fn|struct|interface|type|enum|trait|module|defmodule|defp|const|let|var|val|fun|"
    r"object|record|union|macro|protocol)[ \t]+(?:\([^)\n]*\)\s*)?(?:self\.)?"
)
_RETURN_TYPE = r"[\w<>\[\],.*& \t]{2,60}[ \t]"
_MOST_LINES = 400  # lines of a definition that are compared


def find_paths(text: str) -> list[str]:
    """Return the file paths in a text, with slashes, each once."""
    found = [match[0].replace("\\", "/") for match in _PATH.finditer(_URL.sub(" ", text))]
    paths = [path for path in found if path.rpartition(".")[2].lower() in _EXTENSIONS and len(path) <= 200]
    return list(dict.fromkeys([*paths, *_BARE_FILES.findall(text)]))


def find_symbols(text: str) -> list[str]:
    """Return the identifiers in a text that are written as code, each once."""
    bare = _PATH.sub(" ", _URL.sub(" ", text))
    found = (match[0] for match in _SYMBOL.finditer(bare))
    return list(dict.fromkeys(name for name in found if 3 <= len(name) <= _LONGEST and name.lower() not in _PRODUCTS))


def get_leaf(path: str) -> str:
    """Return the last part of a path, in lower case."""
    return path.rstrip("/").rpartition("/")[2].lower()


def is_same_file(path: str, other: str) -> bool:
    """Return whether two paths may name one file: one ends with the other."""
    first, second = path.lower().lstrip("./"), other.lower().lstrip("./")
    return first == second or first.endswith(f"/{second}") or second.endswith(f"/{first}")


def hash_symbol(code: str, symbol: str) -> str | None:
    """Return a hash of the definition of a symbol, without its white space; None if the code does not define it."""
    if symbol not in code:
        return None
    match = _find_definition(code, re.escape(symbol))
    if match is None:
        return None
    from _blake2 import blake2b  # hashlib would load OpenSSL, which slows down a hook

    lines = _cut_block(code[match.start() :].splitlines()[:_MOST_LINES], len(match["indent"].expandtabs(4)))
    words = " ".join(" ".join(lines).split())
    return blake2b(words.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _find_definition(code: str, name: str) -> re.Match[str] | None:
    """Return where a symbol is defined, in most languages with braces or indentation."""
    forms = (
        rf"{_KEYWORD}{name}\b",
        rf"{name}\s*(?::[^=\n]{{1,80}})?:?=(?!=)",
        rf"{_RETURN_TYPE}{name}\s*\([^;\n]*\)?\s*\{{?\s*$",
    )
    return re.search(rf"^(?P<indent>[ \t]*){_MODIFIER}(?:{'|'.join(forms)})", code, re.MULTILINE)


def _cut_block(lines: list[str], indent: int) -> list[str]:
    """Return the lines of a definition: those indented deeper than its first, and a closing bracket."""
    block = lines[:1]
    for line in lines[1:]:
        if line.strip() and len(line) - len(line.lstrip()) <= indent:
            return [*block, line] if line.strip()[0] in ")}]" else block
        block.append(line)
    return block


def judge_freshness(code: str | None, symbol: str, span: str | None) -> str:
    """Return whether the code of a symbol is as it was when its hash was taken; `code` is None for a missing file."""
    if code is None:
        return GONE
    now = hash_symbol(code, symbol)
    if now is None:
        return FRESH if span is None and symbol in code else GONE
    return FRESH if span is None or span == now else DRIFTED
