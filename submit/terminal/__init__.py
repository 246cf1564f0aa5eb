"""How results look in a terminal, and plainly when piped."""
