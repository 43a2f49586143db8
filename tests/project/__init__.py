"""What is true of the project's own files."""
