"""The whole system as a person has it: real processes, a real engine, a real browser; only clouds have stand-ins."""
