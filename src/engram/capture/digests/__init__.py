"""What is computed from captured sessions: facts, outcome, cost, and which bodies may be dropped."""
