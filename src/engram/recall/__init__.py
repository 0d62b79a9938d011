"""Ask the past."""
