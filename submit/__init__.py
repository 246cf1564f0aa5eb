"""The pipeline from configs.yaml to a tested submission, a noun a module."""
