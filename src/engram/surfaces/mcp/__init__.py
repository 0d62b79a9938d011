"""MCP: the memory as tools, pages and prompts an agent can reach, on stdio and over HTTP."""
