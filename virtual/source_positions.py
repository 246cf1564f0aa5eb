"""Where in the submission an instruction comes from, by the assembly's .file and .loc directives."""

import re

_FILE = re.compile(r'\s*\.file\s+(\d+)\s+"([^"]*)"(?:\s+"([^"]*)")?')
_LOCATION = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)")
_CALLER = re.compile(r"@\[\s*(\S+?:\d+:\d+)")


class SourcePositions:
    """Follows the directives of an assembly text.

    current: `file.py:line:column` of the code that follows, then, where it was inlined, `, called from` and the
    callers, innermost first; empty where the compiler did not say.
    """

    def __init__(self) -> None:
        self.current = ""
        self._files: dict[str, str] = {}

    def read(self, line: str) -> bool:
        """Take in a line of assembly; is it one of these directives?"""
        if match := _LOCATION.match(line):
            if match[2] != "0":  # line 0 is code of no line: what came before is the better answer
                self.current = self._position(match, line)
            return True
        if match := _FILE.match(line):
            self._files[match[1]] = (match[3] or match[2]).rpartition("/")[2]
            return True
        return False

    def _position(self, location: re.Match[str], line: str) -> str:
        file, row, column = location.groups()
        callers = _CALLER.findall(line.partition(";")[2])
        called = f", called from {', '.join(callers)}" if callers else ""
        return f"{self._files.get(file, 'file ' + file)}:{row}:{column}{called}"
