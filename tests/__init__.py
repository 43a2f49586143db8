"""What must stay true, told in sentences; the same folders as the program."""
