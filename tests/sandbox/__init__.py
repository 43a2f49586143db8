"""Sandboxes on every engine of this machine."""
