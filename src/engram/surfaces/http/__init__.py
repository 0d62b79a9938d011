"""HTTP server: every operation as JSON, on a Unix socket or on a port with a token."""
