"""configs.yaml as typed objects: the board, its runner, and each variant's fragments and configs."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from mxsub.submit import fragments
from mxsub.submit.errors import UnknownFragment, UsageError, shown
from mxsub.submit.fragments import Fragment, Value
from mxsub.submit.gpus import Gpu, gpu_named
from mxsub.submit.project_folder import FILE_NAME, project_folder
from mxsub.submit.shapes import Shape
from mxsub.submit.yaml_file import Place, YamlFile

SHIPPED = Path(__file__).resolve().parent.parent
COMPILER_OPTIONS: dict[str, tuple[Value, ...]] = {
    "num_warps": (1, 2, 4, 8, 16),
    "num_stages": (1, 2, 3, 4),
    "waves_per_eu": (0, 1, 2, 3, 4, 5, 6, 7, 8),
    "matrix_instr_nonkdim": (0, 16, 32),
}
"""Triton's launch options that a config may set, and their values; the last two are the AMD backend's."""
AMD_OPTIONS = ("waves_per_eu", "matrix_instr_nonkdim")
NAME = r"^[A-Za-z][A-Za-z0-9_-]*$"

Positive = Annotated[int, Field(ge=1)]
Name = Annotated[str, StringConstraints(pattern=NAME)]
Config = dict[str, Value]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Runner(_Strict):
    """What the leaderboard's machine has installed."""

    python: str
    torch: str
    triton: str


class Multiples(_Strict):
    """What m, n and k of an allowed shape are multiples of."""

    m: Positive = 1
    n: Positive = 1
    k: Positive = 1


class _ShapeEntry(BaseModel):
    """A shape and the config keys that it sets."""

    model_config = ConfigDict(extra="allow")
    m: Positive
    n: Positive
    k: Positive


class _RuleEntry(BaseModel):
    """Config keys for shapes that are not listed, up to a size; the first rule that fits a shape counts."""

    model_config = ConfigDict(extra="allow")
    max_m: Positive | None = None
    max_n: Positive | None = None
    max_k: Positive | None = None


class _VariantEntry(_Strict):
    description: str
    launcher: Name
    fragments: list[Name] = Field(min_length=1)
    environment: dict[str, str] = Field(default_factory=dict)
    defaults: dict[str, Value] = Field(default_factory=dict)
    shapes: list[_ShapeEntry] = Field(default_factory=list)


class _ProjectEntry(_Strict):
    leaderboard: Name
    gpu: str
    task: str
    runner: Runner
    multiples: Multiples = Field(default_factory=Multiples)
    default_variant: str
    defaults: dict[str, Value]
    shapes: list[_ShapeEntry]
    other_shapes: list[_RuleEntry] = Field(min_length=1)
    variants: dict[str, _VariantEntry] = Field(min_length=1)


@dataclass(frozen=True)
class Rule:
    """The config of shapes that are not listed.

    limits: the most that m, n, k may be, e.g. {"m": 16}; empty for the rule that fits every shape.
    """

    limits: Mapping[str, int]
    config: Config
    place: Place


@dataclass(frozen=True)
class Listed:
    """A listed shape's config, and where in configs.yaml each of its values stands."""

    shape: Shape
    config: Config
    places: Mapping[str, Place]


@dataclass(frozen=True)
class Variant:
    """One way to write the submission: its fragments and a config for every shape."""

    name: str
    description: str
    launcher: str
    fragments: tuple[Fragment, ...]
    environment: Mapping[str, str]
    listed: tuple[Listed, ...]
    rules: tuple[Rule, ...]
    place: Place

    @property
    def generation(self) -> str:
        """ "constexpr" or "runtime": what its GEMM fragment is."""
        return self.fragment("gemm").info.generation

    def fragment(self, role: str) -> Fragment:
        """Its first fragment of a role; KeyError where it has none."""
        for fragment in self.fragments:
            if fragment.info.role == role:
                return fragment
        raise KeyError(role)

    def with_needed(self, wanted: Iterable[Fragment]) -> tuple[Fragment, ...]:
        """Fragments and those that they call, each after what it calls."""
        by_name = {fragment.name: fragment for fragment in self.fragments}
        ordered: dict[str, Fragment] = {}

        def add(fragment: Fragment, callers: tuple[str, ...]) -> None:
            if fragment.name in callers:
                circle = " -> ".join((*callers[callers.index(fragment.name) :], fragment.name))
                raise UsageError(f"{shown(fragment.path)}: fragments call one another in a circle: {circle}")
            for needed in fragment.needs_fragments:
                add(by_name[needed], (*callers, fragment.name))
            ordered.setdefault(fragment.name, fragment)

        for fragment in wanted:
            add(fragment, ())
        return tuple(ordered.values())

    def config(self, shape: Shape) -> Config:
        """The config of any shape: as listed, else by the first rule that fits."""
        for listed in self.listed:
            if listed.shape == shape:
                return listed.config
        for rule in self.rules:
            if all(getattr(shape, axis) <= most for axis, most in rule.limits.items()):
                return rule.config
        raise AssertionError("the last rule fits every shape")


@dataclass(frozen=True)
class Project:
    """A project folder: configs.yaml and, where it has them, fragments and templates of its own.

    kernel_folders, template_folders: where fragments and templates are looked up, in this order.
    """

    folder: Path
    leaderboard: str
    gpu: Gpu
    task: str
    runner: Runner
    multiples: Multiples
    default_variant: str
    source: YamlFile = field(repr=False)
    _entry: _ProjectEntry = field(repr=False)

    @property
    def kernel_folders(self) -> tuple[Path, ...]:
        return _with_shipped(self.folder, "kernels")

    @property
    def template_folders(self) -> tuple[Path, ...]:
        return _with_shipped(self.folder, "templates")

    @cached_property
    def variants(self) -> dict[str, Variant]:
        """Every variant by name."""
        return {name: self._variant(name, entry) for name, entry in self._entry.variants.items()}

    def variant(self, name: str | None = None) -> Variant:
        """A variant by name, or the default one; UsageError where there is none of that name."""
        name = name or self.default_variant
        if name not in self._entry.variants:
            raise UsageError(
                f"{self.source.shown}: there is no variant '{name}'",
                f"Variants: {', '.join(self._entry.variants)}.",
            )
        return self.variants[name]

    def _variant(self, name: str, entry: _VariantEntry) -> Variant:
        place: Place = ("variants", name)
        found = []
        for position, fragment_name in enumerate(entry.fragments):
            try:
                found.append(fragments.find_fragment(fragment_name, self.kernel_folders))
            except UnknownFragment as error:
                self.source.fail((*place, "fragments", position), error.message, error.hint)
        return Variant(
            name=name,
            description=entry.description,
            launcher=entry.launcher,
            fragments=tuple(found),
            environment=entry.environment,
            listed=tuple(self._listed(name, entry)),
            rules=tuple(self._rules(name, entry)),
            place=place,
        )

    def _layers(self, name: str, entry: _VariantEntry) -> list[tuple[Mapping[str, Value], Place]]:
        return [
            (self._entry.defaults, ("defaults",)),
            (entry.defaults, ("variants", name, "defaults")),
        ]

    def _listed(self, name: str, entry: _VariantEntry) -> Iterator[Listed]:
        for position, shape_entry in enumerate(self._entry.shapes):
            shape = _shape(shape_entry)
            layers = [
                *self._layers(name, entry),
                (shape_entry.model_extra or {}, ("shapes", position)),
            ]
            for own_position, own in enumerate(entry.shapes):
                if _shape(own) == shape:
                    layers.append((own.model_extra or {}, ("variants", name, "shapes", own_position)))
            config: Config = {}
            places: dict[str, Place] = {"": ("shapes", position)}
            for values, place in layers:
                config.update(values)
                places.update({key: (*place, key) for key in values})
            yield Listed(shape, config, places)

    def _rules(self, name: str, entry: _VariantEntry) -> Iterator[Rule]:
        for position, rule in enumerate(self._entry.other_shapes):
            limits = {
                axis: most
                for axis, most in (("m", rule.max_m), ("n", rule.max_n), ("k", rule.max_k))
                if most is not None
            }
            config: Config = {}
            for values, _ in self._layers(name, entry):
                config.update(values)
            config.update(rule.model_extra or {})
            yield Rule(limits, config, ("other_shapes", position))


def find_project(start: Path) -> Project:
    """The project of a folder: the configs.yaml in it or in the nearest folder above.

    Raises NoProject where there is none.
    """
    return load_project(project_folder(start))


def load_project(folder: Path) -> Project:
    """Reads `folder/configs.yaml`; UsageError with file:line:col where something does not fit."""
    source = YamlFile(folder / FILE_NAME)
    entry = source.parse(_ProjectEntry)
    try:
        gpu = gpu_named(entry.gpu)
    except UsageError as error:
        source.fail(("gpu",), error.message, error.hint)
    if entry.default_variant not in entry.variants:
        source.fail(
            ("default_variant",),
            f"there is no variant '{entry.default_variant}'",
            f"Variants: {', '.join(entry.variants)}.",
        )
    _check_shapes(source, entry)
    return Project(
        folder=folder.resolve(),
        leaderboard=entry.leaderboard,
        gpu=gpu,
        task=entry.task,
        runner=entry.runner,
        multiples=entry.multiples,
        default_variant=entry.default_variant,
        source=source,
        _entry=entry,
    )


def _check_shapes(source: YamlFile, entry: _ProjectEntry) -> None:
    """Every shape is allowed, listed once, and each variant's own entries are about listed ones."""
    listed: set[Shape] = set()
    for position, shape_entry in enumerate(entry.shapes):
        shape = _shape(shape_entry)
        for axis in ("m", "n", "k"):
            if getattr(shape, axis) % getattr(entry.multiples, axis):
                source.fail(
                    ("shapes", position, axis),
                    f"{axis} is {getattr(shape, axis)}, and must be a multiple of "
                    f"{getattr(entry.multiples, axis)} (see 'multiples')",
                )
        if shape in listed:
            source.fail(("shapes", position), f"the shape {shape} is listed twice")
        listed.add(shape)
    for name, variant in entry.variants.items():
        for position, own in enumerate(variant.shapes):
            if _shape(own) not in listed:
                source.fail(
                    ("variants", name, "shapes", position),
                    f"the shape {_shape(own)} is not one of the project's",
                    "List it under 'shapes' first.",
                )
    last = len(entry.other_shapes) - 1
    for position, rule in enumerate(entry.other_shapes):
        limited = (rule.max_m, rule.max_n, rule.max_k) != (None, None, None)
        if position == last and limited:
            source.fail(
                ("other_shapes", position), "the last rule must fit every shape: give it no max_m, max_n, max_k"
            )
        if position != last and not limited:
            source.fail(("other_shapes", position + 1), "no shape reaches this rule: the one before fits every shape")


def _shape(entry: _ShapeEntry) -> Shape:
    return Shape(entry.m, entry.n, entry.k)


def _with_shipped(folder: Path, name: str) -> tuple[Path, ...]:
    own, shipped = folder / name, SHIPPED / name
    return (own, shipped) if own.is_dir() and own.resolve() != shipped else (shipped,)
