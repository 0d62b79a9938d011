"""The supported agents, one file each, and the readers of their transcripts. Imports nothing from the store."""
