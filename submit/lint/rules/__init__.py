"""The lint rules, one a module: each defines RULE, and a check that finds."""
