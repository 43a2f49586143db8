"""What the planning side promises."""
