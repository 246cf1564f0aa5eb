"""What `from submission import custom_kernel` finds: every statement that may bind the name at module level."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

NAME = "custom_kernel"

Callable = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

# Decorators that hand back something that is called like the function itself.
_KEEP_THE_SIGNATURE = {
    "torch.no_grad", "torch.inference_mode", "torch.compile", "torch.jit.script", "torch.jit.ignore",
    "torch.compiler.disable", "torch._dynamo.disable", "functools.cache", "functools.lru_cache", "cache", "lru_cache",
    "no_grad", "inference_mode",
}  # fmt: skip
_TRITON_KERNELS = {"triton.jit", "jit", "triton.autotune", "triton.heuristics", "autotune", "heuristics"}


@dataclass(frozen=True)
class Binding:
    """One statement that binds the name.

    node: where. value: the function or lambda that it binds, or None where it cannot be told.
    problem: why what it binds cannot be called with one argument; empty where it can, or where it cannot be told.
    """

    node: ast.AST
    value: Callable | None
    problem: str


class EntryPoint:
    """How a module binds custom_kernel.

    bindings: those that may be in force when the module has been imported; the last one for sure if there is only
    one. unknowable: the module may bind the name in a way that reading it does not show.
    """

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self.bindings: list[Binding] = []
        self._visit()

    @cached_property
    def unknowable(self) -> bool:
        """`from x import *`, a module `__getattr__`, exec, `globals()["custom_kernel"] = ...` or `global`."""
        for statement in self._tree.body:
            if isinstance(statement, ast.FunctionDef) and statement.name == "__getattr__":
                return True
        for node in ast.walk(self._tree):
            if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
                return True
            if isinstance(node, ast.Global) and NAME in node.names:
                return True
            if isinstance(node, ast.Call) and _called(node) in (
                "exec",
                "globals",
                "vars",
                "setattr",
                "locals",
            ):
                return True
        return False

    @cached_property
    def nested(self) -> ast.AST | None:
        """A function of that name inside a function or class, where the evaluator does not find it."""
        for node in ast.walk(self._tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == NAME:
                return node
        return None

    @cached_property
    def module_names(self) -> list[str]:
        """The functions and classes at module level, in order."""
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        return [statement.name for statement in self._tree.body if isinstance(statement, kinds)]

    def _visit(self) -> None:
        """Goes through the statements that run on import, in their order; without recursion, as else-ifs nest."""
        open_bodies = [(iter(self._tree.body), True)]
        while open_bodies:
            body, certain = open_bodies[-1]
            statement = next(body, None)
            if statement is None:
                open_bodies.pop()
                continue
            if certain and _deletes(statement):
                self.bindings.clear()
            for binding in self._bindings_of(statement):
                if certain:
                    self.bindings.clear()
                self.bindings.append(binding)
            inner = [(iter(inner), certain and inner_certain) for inner, inner_certain in _inner_bodies(statement)]
            open_bodies.extend(reversed(inner))

    def _bindings_of(self, statement: ast.stmt) -> Iterator[Binding]:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            if statement.name == NAME:
                yield Binding(statement, statement, problem_of(statement))
            return
        if isinstance(statement, ast.ClassDef):
            if statement.name == NAME:
                yield Binding(statement, None, "")
            return
        if isinstance(statement, ast.Import | ast.ImportFrom):
            for alias in statement.names:
                if (alias.asname or alias.name.split(".")[0]) == NAME:
                    yield Binding(statement, None, "")
            return
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Name) and target.id == NAME:
                    yield self._of_value(statement, statement.value)
                elif NAME in _names_in(target):
                    yield Binding(statement, None, "")
        elif isinstance(statement, ast.AnnAssign):
            if statement.value is not None and NAME in _names_in(statement.target):
                yield self._of_value(statement, statement.value)
        elif isinstance(statement, ast.For | ast.AsyncFor):
            if NAME in _names_in(statement.target):
                yield Binding(statement, None, "")
        elif isinstance(statement, ast.With | ast.AsyncWith) and any(
            item.optional_vars is not None and NAME in _names_in(item.optional_vars) for item in statement.items
        ):
            yield Binding(statement, None, "")
        for node in _expressions_of(statement):
            if isinstance(node, ast.NamedExpr) and node.target.id == NAME:
                yield self._of_value(node, node.value)

    def _of_value(self, node: ast.AST, value: ast.expr) -> Binding:
        if isinstance(value, ast.Lambda):
            return Binding(node, value, problem_of(value))
        if isinstance(value, ast.Name):
            functions = self._functions.get(value.id, [])
            if len(functions) == 1 and value.id not in self._assigned:
                return Binding(node, functions[0], problem_of(functions[0]))
            return Binding(node, None, "")
        if isinstance(value, ast.Constant):
            return Binding(node, None, f"is {value.value!r:.40}, which cannot be called")
        if isinstance(value, ast.List | ast.Tuple | ast.Dict | ast.Set | ast.JoinedStr):
            return Binding(node, None, "is a value that cannot be called")
        return Binding(node, None, "")

    @cached_property
    def _functions(self) -> dict[str, list[ast.FunctionDef | ast.AsyncFunctionDef]]:
        """The module's functions by name."""
        functions: dict[str, list[ast.FunctionDef | ast.AsyncFunctionDef]] = {}
        for statement in self._tree.body:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                functions.setdefault(statement.name, []).append(statement)
        return functions

    @cached_property
    def _assigned(self) -> set[str]:
        """Every name that is assigned anywhere, so that a function of that name may not be what it refers to."""
        return {
            node.id
            for node in ast.walk(self._tree)
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
        }


def problem_of(function: Callable) -> str:
    """Why a function cannot be called as `custom_kernel(data)`; empty where it can or where it cannot be told."""
    if isinstance(function, ast.AsyncFunctionDef) and not function.decorator_list:
        return "is async, so that calling it gives a coroutine and no output"
    if not isinstance(function, ast.Lambda):
        decorators = [_dotted(d.func if isinstance(d, ast.Call) else d) for d in function.decorator_list]
        if any(name in _TRITON_KERNELS for name in decorators):
            return "is a Triton kernel, which can only be launched on a grid"
        if any(name not in _KEEP_THE_SIGNATURE for name in decorators):
            return ""
    arguments = function.args
    positional = len(arguments.posonlyargs) + len(arguments.args)
    required = positional - len(arguments.defaults)
    keywords = [
        argument.arg
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if default is None
    ]
    if positional == 0 and arguments.vararg is None:
        return "takes no positional argument"
    if required > 1:
        return f"needs {required} arguments"
    if keywords:
        return f"needs the keyword argument{'s' if len(keywords) > 1 else ''} {', '.join(keywords)}"
    return ""


def _deletes(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Delete) and any(NAME in _names_in(target) for target in statement.targets)


def _inner_bodies(statement: ast.stmt) -> Iterator[tuple[list[ast.stmt], bool]]:
    """The statement lists in a statement that run on import, and whether they do for certain."""
    if isinstance(statement, ast.If):
        truth = _truth(statement.test)
        if truth is not False:
            yield statement.body, truth is True
        if truth is not True:
            yield statement.orelse, truth is False
    elif isinstance(statement, ast.For | ast.AsyncFor | ast.While):
        yield statement.body, False
        yield statement.orelse, False
    elif isinstance(statement, ast.With | ast.AsyncWith):
        yield statement.body, True
    elif isinstance(statement, ast.Try | ast.TryStar):
        yield statement.body, False
        for handler in statement.handlers:
            yield handler.body, False
        yield statement.orelse, False
        yield statement.finalbody, True
    elif isinstance(statement, ast.Match):
        for case in statement.cases:
            yield case.body, False


def _truth(test: ast.expr) -> bool | None:
    """Whether a module-level condition holds when the evaluator imports the file; None where it cannot be told."""
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if _dotted(test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
        return False
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        sides = [test.left, test.comparators[0]]
        names = any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides)
        if names and any(isinstance(side, ast.Constant) and side.value == "__main__" for side in sides):
            if isinstance(test.ops[0], ast.Eq):
                return False
            if isinstance(test.ops[0], ast.NotEq):
                return True
    return None


def _names_in(target: ast.expr) -> set[str]:
    """The plain names that a target binds."""
    found: set[str] = set()
    open_targets = [target]
    while open_targets:
        current = open_targets.pop()
        if isinstance(current, ast.Name):
            found.add(current.id)
        elif isinstance(current, ast.Tuple | ast.List):
            open_targets.extend(current.elts)
        elif isinstance(current, ast.Starred):
            open_targets.append(current.value)
    return found


def _expressions_of(statement: ast.stmt) -> Iterator[ast.AST]:
    """The nodes of a statement's own expressions: not of the statements, functions or comprehensions in it."""
    open_nodes: list[ast.AST] = [child for child in ast.iter_child_nodes(statement) if isinstance(child, ast.expr)]
    while open_nodes:
        node = open_nodes.pop()
        yield node
        if not isinstance(node, ast.Lambda):
            open_nodes.extend(ast.iter_child_nodes(node))


def _dotted(node: ast.expr) -> str:
    """`a.b.c` as text; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(parts)])


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""
