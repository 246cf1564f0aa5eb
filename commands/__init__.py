"""mxsub's commands: each parses its arguments, calls submit, and prints.

workshop   what is done here: init, build, lint, explain, test, diff, doctor
"""
