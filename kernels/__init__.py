"""Triton fragments, one a file: what a submission is rendered from. docs/kernel-author.md says what a file holds."""
