"""The pages that rules make of a project: what it is like to work on it, decisions, errors with fixes, subsystems."""
