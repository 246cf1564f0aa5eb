"""What a history has, gathered for its readers: the log, one version, two versions side by side.

log                what was made and submitted, newest first
moments            a point in time as a user writes it
trend              how the geometric mean went
about              all that is known of one version or submission
shape_comparison   a submission's times against aiter's and those before it
result_comparison  the results of two versions side by side
"""
