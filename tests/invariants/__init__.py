"""The promises of the system, each with a switch that breaks it and a test of the suite that then goes red."""
