"""What Engram understands of sessions, measured against labels written by reading them."""
