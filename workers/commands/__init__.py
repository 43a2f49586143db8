"""The commands of `asos`, one file for each group."""
