"""The only package that uses SQL."""
