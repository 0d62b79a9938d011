"""Connect agents to Engram: our entries in their configuration files, and how to remove them."""
