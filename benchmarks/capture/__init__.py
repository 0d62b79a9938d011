"""Capture measured beside the best programs of its kind, on the same transcripts in one run."""
