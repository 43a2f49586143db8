"""What stays true when processes are killed at random; the seed says which, and when."""
