"""Where people speak: channels, web console and APIs in, Temporal out."""
