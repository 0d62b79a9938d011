"""The dashboard: web pages built from the same operations as every other surface.

`page_auth` handles signing in, `routes` lists all addresses, `pages` has a module per page, `drawing` prepares plots,
diffs and transcripts, and `layout` renders pages. Each page has a folder of its name in `templates`.
"""
