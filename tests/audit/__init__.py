"""The record of what happened."""
