"""Drop-in modules for code written for the systems Engram takes over: same names, arguments and results."""
