"""mxsub's commands: each parses its arguments, calls submit, and prints.

workshop   what is done here: init, build, lint, explain, test, diff, doctor
inspect    what a submission asks of the GPU
identity   who you are to KernelBot: register, whoami, join
submit     hand a version in and follow it
log        look back: log, show
ranked     submissions on the service: pull, rank, delete
sweep      many configs tried on the service
report     the history as a page
exchange   history export and import
options    arguments that several of them have
recording  keeps what a command learned
"""
