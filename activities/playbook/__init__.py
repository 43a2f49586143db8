"""Plans that people write in YAML: steps, what they wait for, and what they pass on."""
