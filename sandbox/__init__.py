"""Where untrusted work runs: one driver interface, one engine per file."""
