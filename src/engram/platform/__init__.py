"""Text, JSON, processes and other programs' files: nothing specific to our subject."""
