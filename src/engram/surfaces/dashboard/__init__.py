"""The dashboard: pages a person keeps open, drawn from the same operations every surface has.

`entrance` decides who may look, `routes` has every address, `pages` has a module for each page, `drawing` is how
things look, and `frame` goes around them all. What a page shows lies in `templates`, in a folder of its name.
"""
