"""mxsub."""
