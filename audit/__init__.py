"""What happened: the append-only, hash-chained, signed record and the effect ledger."""
