"""HTTP: every operation as JSON, on a Unix socket or a loopback port with a token."""
