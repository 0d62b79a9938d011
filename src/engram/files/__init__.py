"""Files that belong to somebody else: where agents keep theirs, blocks in them, and the careful write."""
