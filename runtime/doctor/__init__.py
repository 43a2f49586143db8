"""What an installation has, lacks, and how to get it."""
