"""How a process starts, and the local stack."""
