"""The playbook of a project: what one must know to work on it, computed from evidence."""
