"""Where the vault's sealed boxes lie: one store a file, and none of them can open anything."""
