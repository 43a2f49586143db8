"""The kill switch of an installation: what is stopped stands in one small file, which everything that acts asks."""
