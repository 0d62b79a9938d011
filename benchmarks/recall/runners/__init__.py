"""What runs inside the peers' own environments; nothing of ours can be imported there."""
