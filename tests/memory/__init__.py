"""What the memory promises."""
