"""MCP server: tools, resources and prompts, over stdio and HTTP."""
