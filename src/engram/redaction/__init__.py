"""Redaction: remove secrets from text before it is stored."""
