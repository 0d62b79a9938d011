"""Who is here, what they do, what they hold, what they tell each other."""
