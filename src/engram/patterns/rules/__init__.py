"""Rules: decisions about patterns, where agents read them, and whether they helped."""
