"""Rules: what people make of patterns, where agents find them, and whether they helped."""
