"""The search index of exchanges and passages: words, vectors, and their maintenance."""
