"""mxsub: render, lint, test and compare KernelBot submissions."""

__version__ = "0.1.0"
