"""Who decides the next step: one planner a file."""
