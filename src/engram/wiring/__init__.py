"""How agents come to call us: what is written into their configuration, and taken out again."""
