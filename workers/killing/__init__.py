"""What a worker does when the kill switch is pulled, and when it is lifted."""
