"""The words every part shares: frozen data and activity interfaces, with no I/O."""
