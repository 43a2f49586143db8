"""The supervisor with the real Temporal server and small real processes beside it."""
