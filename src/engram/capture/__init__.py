"""Capture: what agents said and did, on its way into the store."""
