"""How a process starts: settings, telemetry, the Temporal connection, the local stack, discovery."""
