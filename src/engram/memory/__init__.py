"""What was said in every session, and what is made of it."""
