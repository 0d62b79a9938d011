"""Import data of other systems."""
