"""Every sentence a person reads, in English and Chinese: one file for each part that speaks."""
