"""Capture: read the agents' transcripts into the store."""
