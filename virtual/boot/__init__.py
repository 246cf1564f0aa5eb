"""On the PYTHONPATH of processes that shall see the virtual MI355X: holds sitecustomize.py and nothing else."""
