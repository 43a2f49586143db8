"""Tools, judging and acting, with a real shell, real curl and real Chromium."""
