"""Renders a variant into one single-file submission: the same inputs give the same bytes.

The skeleton is templates/submission.py.jinja; a variant's launcher is templates/launch_<launcher>.py.jinja.
"""

import ast
import functools
import hashlib
import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

import jinja2

import mxsub
from mxsub.submit import config_check
from mxsub.submit.errors import UsageError
from mxsub.submit.fragments import Fragment, Value
from mxsub.submit.gpus import Gpu
from mxsub.submit.project import AMD_OPTIONS, COMPILER_OPTIONS, Config, Project, Variant
from mxsub.submit.shapes import Shape

SHORT_NAMES = {
    "BLOCK_SIZE_M": "BSM",
    "BLOCK_SIZE_N": "BSN",
    "BLOCK_SIZE_K": "BSK",
    "GROUP_SIZE_M": "GSM",
    "NUM_KSPLIT": "NS",
    "num_warps": "nw",
    "num_stages": "nst",
    "waves_per_eu": "wpe",
    "matrix_instr_nonkdim": "mid",
    "cache_modifier": "cm",
}
"""What contestants call the config keys."""


@dataclass(frozen=True)
class Provenance:
    """What a submission was rendered from.

    fragments: name -> sha256 of its code. inputs: sha256 over everything that decides the text.
    """

    mxsub: str
    leaderboard: str
    gpu: str
    variant: str
    fragments: Mapping[str, str]
    inputs: str

    def to_dict(self) -> dict[str, object]:
        return asdict(self)


@dataclass(frozen=True)
class Submission:
    """One rendered file.

    text: its source; sha256: of the text's UTF-8 bytes; configs: shape -> the config it was rendered with.
    """

    text: str
    sha256: str
    provenance: Provenance
    configs: Mapping[Shape, Config]


def render(project: Project, variant: Variant, gpu: Gpu | None = None) -> Submission:
    """Renders a variant for a GPU (the project's own by default).

    For a GPU without the FP4 conversion instruction the portable quantization takes the hardware one's place, and
    for NVIDIA GPUs the AMD backend's launch options are left out.
    Raises UsageError where a config does not fit (file:line:col) or the GPU lacks what a fragment needs.
    """
    gpu = gpu or project.gpu
    config_check.check(project, variant)
    listed = {entry.shape: _for_gpu(variant, entry.config, gpu) for entry in variant.listed}
    rules = [(rule.limits, _for_gpu(variant, rule.config, gpu)) for rule in variant.rules]
    used = _used(variant, [*listed.values(), *(config for _, config in rules)])
    provenance = _provenance(project, variant, gpu, used, listed, rules)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([str(folder) for folder in project.template_folders]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["config_lines"] = functools.partial(_config_lines, variant)
    try:
        text = environment.get_template("submission.py.jinja").render(
            project=project,
            gpu=gpu,
            variant=variant,
            provenance=provenance,
            launcher=f"launch_{variant.launcher}.py.jinja",
            environment=variant.environment if gpu.vendor == "amd" else {},
            imports=_merged_imports(used),
            fragments=used,
            kernels={fragment.info.role: fragment.info.kernel for fragment in used if fragment.info.kernel},
            splits=any(fragment.info.role == "reduce" for fragment in used),
            listed=listed,
            rules=rules,
            compiler_options=[name for name in COMPILER_OPTIONS if gpu.vendor == "amd" or name not in AMD_OPTIONS],
            table=_table(listed),
        )
    except jinja2.TemplateNotFound as error:
        project.source.fail((*variant.place, "launcher"), f"there is no template '{error.name}'")
    except jinja2.TemplateError as error:
        name, line = getattr(error, "filename", None), getattr(error, "lineno", None)
        raise UsageError(f"{name or 'template'}:{line or 1}:1: {error.message}") from None
    return Submission(text, hashlib.sha256(text.encode()).hexdigest(), provenance, listed)


def _for_gpu(variant: Variant, config: Config, gpu: Gpu) -> Config:
    """A config with what this GPU's compiler does not take replaced or left out."""
    fitted = {key: value for key, value in config.items() if gpu.vendor == "amd" or key not in AMD_OPTIONS}
    known = config_check.quantizers(variant)
    chosen = known[str(config["QUANTIZE"])]
    if "fp4_conversion" in chosen.info.needs and not gpu.fp4_conversion:
        portable = [name for name, fragment in known.items() if not fragment.info.needs]
        if not portable:
            raise UsageError(
                f"{gpu.name} has no FP4 conversion instruction, which the fragment '{chosen.name}' of variant "
                f"'{variant.name}' needs",
                "Add the fragment 'quantize_software' to the variant.",
            )
        fitted["QUANTIZE"] = portable[0]
    return fitted


def _used(variant: Variant, configs: Iterable[Config]) -> list[Fragment]:
    """The fragments that any of these configs uses, each after what it calls, else in the variant's order."""
    wanted = {fragment.name for config in configs for fragment in config_check.fragments_in_use(variant, config)}
    return list(variant.with_needed(fragment for fragment in variant.fragments if fragment.name in wanted))


def _merged_imports(used: Iterable[Fragment]) -> list[str]:
    """Every import that the fragments and the skeleton need, once, in isort's order and groups.

    The skeleton itself has functools and os, which come before the environment is set.
    """
    skeleton = ["import torch", "import triton", "from task import input_t, output_t"]
    statements = {line for fragment in used for line in fragment.imports} | set(skeleton)

    def group(statement: str) -> tuple[int, int, str]:
        node = ast.parse(statement).body[0]
        module = node.module if isinstance(node, ast.ImportFrom) else node.names[0].name  # type: ignore[attr-defined]
        top = str(module).partition(".")[0]
        rank = 0 if top in sys.stdlib_module_names else 2 if top == "task" else 1
        return rank, isinstance(node, ast.ImportFrom), statement

    ordered = sorted(statements, key=group)
    lines: list[str] = []
    for position, statement in enumerate(ordered):
        if position and group(statement)[0] != group(ordered[position - 1])[0]:
            lines.append("")
        lines.append(statement)
    return lines


def _config_lines(variant: Variant, config: Config) -> list[str]:
    """A config as the arguments of dict(): the tile, what else the kernel takes, the compiler's options."""
    functions = {name: fragment.info.kernel for name, fragment in config_check.quantizers(variant).items()}
    lines: dict[str, list[str]] = {"tile": [], "kernel": [], "compiler": []}
    for key, value in config.items():
        part = "tile" if key.startswith("BLOCK_SIZE") else "compiler" if key in COMPILER_OPTIONS else "kernel"
        lines[part].append(f"{key}={functions[str(value)] if key == 'QUANTIZE' else _literal(value)}")
    return [", ".join(arguments) + "," for arguments in lines.values() if arguments]


def _literal(value: Value) -> str:
    return json.dumps(value) if isinstance(value, str) else repr(value)


def _table(listed: Mapping[Shape, Config]) -> list[str]:
    """The configs as lines of text, a shape a line, in contestants' short names, with the workgroups of each."""
    keys = [key for key in SHORT_NAMES if any(key in config for config in listed.values())]
    rows = [["m", "n", "k", *(SHORT_NAMES[key] for key in keys), "workgroups"]]
    for shape, config in listed.items():
        tiles = -(-shape.m // int(config["BLOCK_SIZE_M"])) * -(-shape.n // int(config["BLOCK_SIZE_N"]))
        values = [str(config.get(key, "")) or "-" for key in keys]
        rows.append([*map(str, shape), *values, str(tiles * int(config["NUM_KSPLIT"]))])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]


def _provenance(
    project: Project,
    variant: Variant,
    gpu: Gpu,
    used: list[Fragment],
    listed: Mapping[Shape, Config],
    rules: list[tuple[Mapping[str, int], Config]],
) -> Provenance:
    templates = {
        name: hashlib.sha256(_template_source(project, name)).hexdigest()
        for name in ("submission.py.jinja", f"launch_{variant.launcher}.py.jinja")
    }
    hashes = {fragment.name: fragment.sha256 for fragment in used}
    inputs: dict[str, Value | object] = {
        "mxsub": mxsub.__version__,
        "leaderboard": project.leaderboard,
        "gpu": gpu.name,
        "variant": variant.name,
        "fragments": hashes,
        "templates": templates,
        "configs": [[*shape, config] for shape, config in listed.items()],
        "rules": [[dict(limits), config] for limits, config in rules],
        "environment": dict(variant.environment),
    }
    digest = hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()
    return Provenance(mxsub.__version__, project.leaderboard, gpu.name, variant.name, hashes, digest)


def _template_source(project: Project, name: str) -> bytes:
    for folder in project.template_folders:
        if (folder / name).is_file():
            return (folder / name).read_bytes()
    return b""
