"""Daily logs become a linked wiki: what entries are about, the pages made of it, by rules and by a model."""
