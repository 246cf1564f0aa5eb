"""A stranger's words, made safe to show: a service's sentence, a file name, a traceback."""

LONGEST = 1000


def one_line(text: str) -> str:
    """One line, printable, and not without end: no control characters or escape sequences reach a terminal."""
    cleaned = "".join(sign if sign.isprintable() else " " for sign in text)
    words = " ".join(cleaned.split())
    return words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…"
