"""Where the arguments of a call came from, and what may therefore be done with them."""
