"""Kernels of the common kinds, one a file, each with its sizes, its inputs and its reference: see workload.py."""
