"""The dream cycle: memory that tends itself when nobody is talking."""
