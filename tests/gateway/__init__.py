"""What must stay true where people speak."""
