"""Messages of every session, and the summaries made from them."""
