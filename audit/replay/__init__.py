"""How what a task did can be watched again: its steps, its pictures and its commands in one page."""
