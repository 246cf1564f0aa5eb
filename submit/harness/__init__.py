"""Runs a problem folder's evaluator over a submission, on a GPU or on its virtual twin."""
