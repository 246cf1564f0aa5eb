"""Kernel fragments: a Python file of Triton functions, read without importing it.

A fragment holds a docstring, imports, one literal `FRAGMENT` dict that says what it is and which configs it
takes, and @triton.jit functions. What it imports from `mxsub.kernels` are other fragments that it needs.
"""

import ast
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mxsub.submit.errors import UnknownFragment, UsageError, shown

SHIPPED = Path(__file__).resolve().parent.parent / "kernels"
Value = int | str | bool


class FragmentInfo(BaseModel):
    """The FRAGMENT dict of a fragment file.

    role: what the launcher uses it for; "device" fragments are only called by others.
    kernel: the name of the function that is launched (or, for "quantize", passed as QUANTIZE).
    k_tail: "masked" where a K that BLOCK_SIZE_K does not divide is computed whole, "dropped" where its rest
        would be lost, so that no such config may be built.
    needs: what a GPU must have, e.g. "fp4_conversion".
    tunable: config key -> allowed values.
    relations: what else a config has to satisfy, as expressions over its keys and M, N, K -> why.
    requires: limits, in sentences, for people.
    """

    model_config = ConfigDict(extra="forbid")
    role: Literal["quantize", "gemm", "split_k", "reduce", "device"]
    generation: Literal["constexpr", "runtime", "any"] = "any"
    kernel: str = ""
    k_tail: Literal["masked", "dropped"] = "masked"
    needs: list[Literal["fp4_conversion"]] = Field(default_factory=list)
    tunable: dict[str, list[Value]] = Field(default_factory=dict)
    relations: dict[str, str] = Field(default_factory=dict)
    requires: list[str] = Field(default_factory=list)


@dataclass(frozen=True)
class Fragment:
    """One fragment file.

    imports: its import statements, other fragments' left out.
    needs_fragments: the names of the fragments that it imports from, in order.
    code: the source of what follows the FRAGMENT dict, as it is rendered.
    """

    name: str
    path: Path
    info: FragmentInfo
    imports: tuple[str, ...]
    needs_fragments: tuple[str, ...]
    code: str

    @property
    def sha256(self) -> str:
        """Of what is rendered of it."""
        return hashlib.sha256(self.code.encode()).hexdigest()


def find_fragment(name: str, folders: tuple[Path, ...]) -> Fragment:
    """Reads `NAME.py` from the first of the folders that has it.

    Raises UnknownFragment where none has, UsageError where the file is not a fragment.
    """
    for folder in folders:
        path = folder / f"{name}.py"
        if path.is_file():
            return read_fragment(path)
    known = sorted({p.stem for folder in folders for p in folder.glob("*.py")} - {"__init__"})
    raise UnknownFragment(f"there is no fragment '{name}'", f"Fragments: {', '.join(known)}.")


def read_fragment(path: Path) -> Fragment:
    """Parses one fragment file; raises UsageError with file:line:col where it is not one."""
    try:
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{shown(path)}: cannot be read: {error}") from None
    except SyntaxError as error:
        raise UsageError(f"{shown(path)}:{error.lineno}:{error.offset}: {error.msg}") from None
    imports: list[str] = []
    needs: list[str] = []
    info: FragmentInfo | None = None
    code_from = len(source)
    lines = source.splitlines(keepends=True)
    for position, node in enumerate(tree.body):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mxsub.kernels."):
            needs.append((node.module or "").removeprefix("mxsub.kernels."))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            imports.append(ast.unparse(node))
        elif _is_fragment_dict(node):
            info = _read_info(path, node)
            code_from = node.end_lineno or node.lineno
            _refuse_early_code(path, tree.body[:position])
    if info is None:
        raise UsageError(
            f"{shown(path)}:1:1: is no fragment: it has no FRAGMENT dict",
            "See docs/kernel-author.md for what one holds.",
        )
    code = "".join(lines[code_from:]).strip("\n")
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    if info.kernel and info.kernel not in functions:
        raise UsageError(
            f"{shown(path)}:1:1: FRAGMENT names the kernel '{info.kernel}', which the file does not define"
        )
    return Fragment(path.stem, path, info, tuple(imports), tuple(needs), code)


def _is_fragment_dict(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id == "FRAGMENT"
    )


def _read_info(path: Path, node: ast.stmt) -> FragmentInfo:
    assert isinstance(node, ast.Assign)
    where = f"{shown(path)}:{node.lineno}:{node.col_offset + 1}"
    try:
        content: Any = ast.literal_eval(node.value)
    except ValueError:
        raise UsageError(f"{where}: FRAGMENT must be a literal dict") from None
    try:
        return FragmentInfo.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        raise UsageError(f"{where}: FRAGMENT: {name}: {first['msg'][0].lower()}{first['msg'][1:]}") from None


def _refuse_early_code(path: Path, before: list[ast.stmt]) -> None:
    """Only a docstring and imports may stand above FRAGMENT, since what does is not rendered."""
    for node in before:
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not docstring and not isinstance(node, ast.Import | ast.ImportFrom):
            raise UsageError(
                f"{shown(path)}:{node.lineno}:{node.col_offset + 1}: code above FRAGMENT is not rendered",
                "Move it below the FRAGMENT dict.",
            )
