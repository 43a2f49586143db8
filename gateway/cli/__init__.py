"""The terminal of the owner: one group of commands a file."""
