"""Readers of file formats that several agents share."""
