"""The files of the wiki: paths, reading, writing, versions and indexing."""
