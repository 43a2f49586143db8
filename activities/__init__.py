"""How the world is touched: the only worker code that does I/O."""
