"""Telegram in pieces that its channel puts together: updates in, HTML out, and the order in between."""
