"""How a page is looked at: Chromium inside the sandbox, Playwright outside of it."""
