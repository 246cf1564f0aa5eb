"""Gives this Python process the virtual MI355X, if MXSUB_VIRTUAL_GPU asks for it.

Python imports this file at start-up because `mxsub.virtual.environment()` puts its folder on PYTHONPATH. It waits for
the first import of torch and of Triton, so that processes which import neither stay as they are. Another
sitecustomize further down sys.path is run as well. Every Python process pays for this file, so it imports next to
nothing before torch or Triton comes.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import PathFinder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.abc import Loader
    from importlib.machinery import ModuleSpec
    from types import ModuleType

BOOT_FOLDER = os.path.dirname(os.path.realpath(__file__))
PACKAGE_ROOT = os.path.dirname(os.path.dirname(BOOT_FOLDER))
INSTALLERS = {"torch": "mxsub.virtual.torch_cuda", "triton": "mxsub.virtual.triton_driver"}


def import_mxsub() -> None:
    """Import mxsub, from around this file where the interpreter knows no such package."""
    import importlib.util

    try:
        importlib.import_module("mxsub.virtual")
    except ModuleNotFoundError:
        spec = importlib.util.spec_from_file_location(
            "mxsub", os.path.join(PACKAGE_ROOT, "__init__.py"), submodule_search_locations=[PACKAGE_ROOT]
        )
        if spec is None or spec.loader is None:
            raise
        package = importlib.util.module_from_spec(spec)
        sys.modules["mxsub"] = package
        spec.loader.exec_module(package)


class InstallingLoader:
    """Runs a module as its own loader does, then installs the stand-in for it."""

    def __init__(self, loader: Loader, finder: FirstImport) -> None:
        self.loader = loader
        self.finder = finder

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        # The module keeps its own loader, as if it had been imported without us.
        module.__loader__ = self.loader
        if module.__spec__ is not None:
            module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        self.finder.install(module.__name__)


class FirstImport:
    """Finds torch and Triton where the other finders do, and has their stand-ins installed when they have run."""

    def __init__(self) -> None:
        self.awaited = dict(INSTALLERS)
        self.asking_others = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in self.awaited or self.asking_others:
            return None
        import importlib.util

        self.asking_others = True
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self.asking_others = False
        if spec is not None and spec.loader is not None:
            spec.loader = InstallingLoader(spec.loader, self)  # type: ignore[assignment]
        return spec

    def install(self, name: str) -> None:
        """Install the stand-in for a module that has just run; the finder leaves after the last one."""
        installer = self.awaited.pop(name, None)
        if installer is None:
            return
        if not self.awaited:
            sys.meta_path.remove(self)
        import_mxsub()
        __import__(installer)
        sys.modules[installer].install()


def run_shadowed_sitecustomize() -> None:
    """Run the sitecustomize that Python would have found without this one."""
    rest = [folder for folder in sys.path if os.path.realpath(folder or ".") != BOOT_FOLDER]
    spec = PathFinder.find_spec("sitecustomize", rest)
    if spec is not None and spec.loader is not None:
        import importlib.util

        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


if os.environ.get("MXSUB_VIRTUAL_GPU") == "MI355X":
    sys.meta_path.insert(0, FirstImport())
run_shadowed_sitecustomize()
