"""The index of exchanges and passages: words, vectors, and how both are kept."""
