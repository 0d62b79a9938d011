"""Redaction: secrets are taken out of a text before anything of it is written."""
