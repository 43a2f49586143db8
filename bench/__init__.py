"""What things cost, as ratios against a floor or a peer of the same run."""
