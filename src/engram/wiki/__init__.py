"""Conversations become daily logs, daily logs a wiki that people read and agents ask."""
