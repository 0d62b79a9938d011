"""The interfaces: command line, HTTP, MCP, hooks and dashboard. They call operations and add no rules of their own."""
