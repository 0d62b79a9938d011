"""One file per flavor: finds an agent's transcripts and yields what they say. Sees no store of ours."""
