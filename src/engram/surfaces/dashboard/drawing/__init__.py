"""Prepare transcripts, diffs, plots and safe HTML for the templates, without I/O."""
