"""What a session shows: requests, decisions, actions, errors and results, read from its events. No I/O."""
