"""How a bare machine becomes ready, and what is inside a sandbox image."""
