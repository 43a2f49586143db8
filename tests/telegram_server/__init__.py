"""A small, strict Bot API server on loopback: what the real one refuses, it refuses, and it remembers every call."""
