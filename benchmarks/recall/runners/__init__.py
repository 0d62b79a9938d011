"""Runners for the environments of the peers; they cannot import our code."""
