"""Where everything is wired together; nothing imports it."""
