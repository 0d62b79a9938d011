"""The only room that speaks SQL."""
