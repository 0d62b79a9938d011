"""Measurements and the race; each file runs by itself and is imported by its tests."""
