"""Workflows against a real server; the activities are scripted, since here they are the world."""
