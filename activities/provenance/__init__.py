"""What the planner has seen when it makes a call, and what of it belongs to whom."""
