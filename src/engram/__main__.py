"""`engram …` and `python -m engram …`."""

from __future__ import annotations

import sys


def main() -> int:
    """Send hooks and MCP the short way, everything else to the command line."""
    if sys.argv[1:2] == ["hook"]:
        from engram.surfaces import hooks

        hooks.main(sys.argv[2:])
    if sys.argv[1:] == ["mcp"]:
        from engram.surfaces.mcp import stdio

        return stdio.main()
    from engram.surfaces.cli import main as cli

    return cli()


if __name__ == "__main__":
    sys.exit(main())
