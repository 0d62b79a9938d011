"""Patterns: what keeps going wrong or right, over all agents."""
