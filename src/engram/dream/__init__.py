"""The dream: background upkeep of the memory."""
