"""What stays small while a great many tasks come and go."""
