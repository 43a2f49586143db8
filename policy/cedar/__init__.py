"""What roles may do, as policies of the language Cedar: nothing is permitted by itself, and a prohibition wins."""
