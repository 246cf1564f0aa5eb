"""The history as one HTML page that needs nothing else."""
