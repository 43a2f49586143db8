"""What policy must say, told in sentences and in tables of cases."""
