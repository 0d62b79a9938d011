"""The pages: a module for each, with a function per address; `board` and `stream` make Now live."""
