"""What a sandbox was at some moment: taken, kept sealed, checked, and brought back."""
