"""Readers of the agents' transcripts."""
