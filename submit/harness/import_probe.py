"""python import_probe.py MODULE: imports a module of the current folder and says on POPCORN_FD how that went.

`imported: yes`, or `exit: CODE` and `line: N` where it calls sys.exit; nothing where the import ends the process.
"""

import importlib
import os
import sys
import traceback


def main(module: str) -> None:
    sys.path[0] = os.getcwd()
    with os.fdopen(int(os.environ["POPCORN_FD"]), "w", buffering=1) as answer:
        try:
            importlib.import_module(module)
        except SystemExit as error:
            frames = [frame for frame in traceback.extract_tb(error.__traceback__) if module in frame.filename]
            line = frames[-1].lineno if frames else ""
            answer.write(f"exit: {error.code!r}\nline: {line}\n")
        else:
            answer.write("imported: yes\n")


if __name__ == "__main__":
    main(sys.argv[1])
