"""Tests of what the worker wires together."""
