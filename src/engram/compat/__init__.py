"""Modules that stand in for those of the systems Engram takes over: the same names, arguments and results."""
