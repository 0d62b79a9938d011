"""Code written for the systems Engram takes over, run unchanged."""
