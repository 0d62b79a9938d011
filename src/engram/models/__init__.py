"""Language models: off until the user configures one, limited in time, cost and size, and never called recursively."""
