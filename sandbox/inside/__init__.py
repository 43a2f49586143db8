"""What the host sends into a sandbox and runs there: shell and Python text that needs nothing of the image."""
