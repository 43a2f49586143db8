"""Judges of programs, by kind; catalogue.py joins them."""
