"""One engine a file; each gives create, attach, pause, snapshot and destroy."""
