"""What the history has to tell: the lists and comparisons that `log`, `show`, `diff` and `submit` print."""
