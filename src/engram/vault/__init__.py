"""The files of the wiki: where they lie, how they are read, written, kept and found."""
