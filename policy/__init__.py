"""What is permitted: pure functions from a question to a verdict."""
