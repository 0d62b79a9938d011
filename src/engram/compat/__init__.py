"""Drop-in modules for code written for the systems Engram replaces: same names, arguments and results."""
