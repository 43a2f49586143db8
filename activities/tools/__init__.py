"""What an agent can do: one tool a file."""
