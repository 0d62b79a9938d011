"""The ways in: command line, HTTP, hooks. They read operations and hold no rules of their own."""
