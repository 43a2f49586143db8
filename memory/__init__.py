"""What is remembered: context window, vectors, graph."""
