"""Recorded runs of every kind that the present workflow code must be able to continue."""
