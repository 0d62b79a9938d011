"""Live coordination: sessions, locks, messages, world state and sitrep."""
