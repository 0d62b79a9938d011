"""Asking a language model: off until the user chooses one, bounded in time, money and size, never from within."""
