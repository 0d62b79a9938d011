"""Measurements and the race; each runs by itself and is imported by its tests."""
