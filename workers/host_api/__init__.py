"""What a host offers to its owner's command line: the files and terminals of its sandboxes, over HTTP with a token."""
