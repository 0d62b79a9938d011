"""Measure capture against comparable programs, on the same transcripts in one run."""
