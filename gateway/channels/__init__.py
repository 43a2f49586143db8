"""How a platform speaks: one channel a file."""
