"""What a session comes to: its facts, its outcome, its cost; and what may be dropped when space is needed."""
