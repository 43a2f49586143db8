"""Tests of where values come from."""
