"""Who acts: profiles, the vault, OAuth, cookies, leased secrets."""
