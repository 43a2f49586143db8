"""Tests of the vault, its stores, and what opens it."""
