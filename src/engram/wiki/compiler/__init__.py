"""The compiler: turn daily logs into linked wiki pages, by rules and with a model."""
