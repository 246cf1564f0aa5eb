"""LLVM's own tools, of a version that knows gfx950."""

import re
import shutil
import subprocess
from functools import cache

OLDEST = 20


def _version(path: str) -> int:
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
    match = re.search(r"LLVM version (\d+)", said)
    return int(match[1]) if match else 0


@cache
def tool(name: str) -> str:
    """The path of llvm-objdump or llvm-mc. Raises FileNotFoundError, which says what to install."""
    for version in ("-22", "", "-24", "-23", "-21", "-20"):
        path = shutil.which(name + version)
        if path and _version(path) >= OLDEST:
            return path
    raise FileNotFoundError(
        f"the tests need {name} of LLVM {OLDEST} or newer: `make llvm`, or this system's own packages"
    )


def run(name: str, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run([tool(name), *arguments], input=text, capture_output=True, text=True, check=False)
