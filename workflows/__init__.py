"""What happens next: deterministic orchestration, and nothing that touches the world."""
