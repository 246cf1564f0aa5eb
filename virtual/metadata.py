"""What the amdhsa metadata of an assembly text says about its kernel."""

import re
from dataclasses import dataclass

_BLOCK = re.compile(r"amdhsa\.kernels:(.*?)\.end_amdgpu_metadata", re.DOTALL)
_ARGUMENT = re.compile(r"^      - (.*\n(?: {8}.*\n)*)", re.MULTILINE)
_FIELD = re.compile(r"\.(\w+):[ \t]+(\S+)")
_NUMBER = re.compile(r"^(?:    |  - )\.(\w+):[ \t]+(\d+)$", re.MULTILINE)


@dataclass(frozen=True)
class Argument:
    """One entry of the kernel-argument segment: where it lies, and what it is ('global_buffer', 'by_value', ...)."""

    offset: int
    size: int
    value_kind: str
    name: str = ""


@dataclass(frozen=True)
class Metadata:
    """arguments: in order. numbers: the kernel's integer fields, such as vgpr_count."""

    arguments: tuple[Argument, ...]
    numbers: dict[str, int]


def parse_metadata(text: str) -> Metadata:
    """Reads the one simple shape of YAML that LLVM prints."""
    match = _BLOCK.search(text)
    block = match[1] if match else ""
    arguments = []
    for entry in _ARGUMENT.findall(block):
        fields = dict(_FIELD.findall(entry))
        if "offset" in fields:
            arguments.append(
                Argument(int(fields["offset"]), int(fields["size"]), fields["value_kind"], fields.get("name", ""))
            )
    return Metadata(tuple(arguments), {name: int(value) for name, value in _NUMBER.findall(block)})
