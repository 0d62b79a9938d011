"""Search what is remembered."""
