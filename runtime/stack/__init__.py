"""The local stack: Temporal, worker and gateway as processes that are started, watched and stopped together."""
