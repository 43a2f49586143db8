"""What a shell command would do, found by its grammar and never by running it."""
