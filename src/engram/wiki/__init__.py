"""The wiki: conversations become daily logs, and daily logs become linked pages."""
