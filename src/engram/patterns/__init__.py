"""Patterns: problems and successes that recur, across all agents."""
