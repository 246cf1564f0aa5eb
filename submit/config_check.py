"""What a config must satisfy before anything is rendered from it.

A config that would drop work or read out of bounds does not build; neither does one with an unknown key, a value
that its kernel does not take, or a relation between values that its kernel forbids.
"""

from collections.abc import Mapping

from mxsub.submit.errors import UsageError
from mxsub.submit.fragments import Fragment, Value
from mxsub.submit.project import AMD_OPTIONS, COMPILER_OPTIONS, Config, Project, Variant
from mxsub.submit.relations import UnknownNameError, holds
from mxsub.submit.shapes import Shape
from mxsub.submit.yaml_file import Place


def quantizers(variant: Variant) -> dict[str, Fragment]:
    """The values of QUANTIZE -> the fragments that they stand for, e.g. "hardware" -> quantize_hardware."""
    return {
        fragment.name.removeprefix("quantize_"): fragment
        for fragment in variant.fragments
        if fragment.info.role == "quantize"
    }


def fragments_in_use(variant: Variant, config: Config) -> tuple[Fragment, ...]:
    """The fragments that a config uses: GEMM, or split-K and reduce, the quantizer, and before each what it calls."""
    split = int(config.get("NUM_KSPLIT", 1)) > 1
    roles = {fragment.info.role for fragment in variant.fragments}
    multiply = "split_k" if split and "split_k" in roles else "gemm"
    wanted = {multiply, "reduce"} if split else {multiply}
    chosen = quantizers(variant).get(str(config.get("QUANTIZE")))
    used = [fragment for fragment in variant.fragments if fragment.info.role in wanted]
    return variant.with_needed((*used, chosen) if chosen else used)


def split_size(k: int, splits: int, block_size_k: int) -> int:
    """SPLITK_BLOCK_SIZE: the smallest multiple of BLOCK_SIZE_K with which `splits` parts cover K."""
    part = -(-k // splits)
    return -(-part // block_size_k) * block_size_k


def check(project: Project, variant: Variant) -> None:
    """Raises UsageError, with the value's file:line:col, for the first thing wrong with a variant's configs."""
    _check_roles(project, variant)
    for listed in variant.listed:
        _ConfigCheck(project, variant, listed.config, listed.places, listed.shape).run()
    for rule in variant.rules:
        places: dict[str, Place] = {"": rule.place, **{key: (*rule.place, key) for key in rule.config}}
        _ConfigCheck(project, variant, rule.config, places, None).run()


def _check_roles(project: Project, variant: Variant) -> None:
    roles = [fragment.info.role for fragment in variant.fragments]
    place = (*variant.place, "fragments")
    for role, name in (("gemm", "a GEMM"), ("quantize", "a quantization")):
        if role not in roles:
            project.source.fail(place, f"variant '{variant.name}' has no fragment that is {name}")
    splits = any("NUM_KSPLIT" in fragment.info.tunable for fragment in variant.fragments)
    if ("split_k" in roles or splits) and "reduce" not in roles:
        project.source.fail(place, f"variant '{variant.name}' splits K and has no fragment that reduces the parts")
    known = {fragment.name for fragment in variant.fragments}
    for fragment in variant.fragments:
        for needed in fragment.needs_fragments:
            if needed not in known:
                project.source.fail(
                    place,
                    f"the fragment '{fragment.name}' needs '{needed}', which variant '{variant.name}' does not list",
                )


class _ConfigCheck:
    """The checks of one config: of a listed shape, or of a rule (shape None)."""

    def __init__(
        self, project: Project, variant: Variant, config: Config, places: Mapping[str, Place], shape: Shape | None
    ) -> None:
        self.source, self.variant, self.config = project.source, variant, config
        self.places, self.shape = places, shape
        self.used = fragments_in_use(variant, config)

    def run(self) -> None:
        self._keys()
        self._values()
        self._relations()
        self._k_tail()
        self._split()

    def _fail(self, key: str, problem: str, hint: str = "", *, at_key: bool = False) -> None:
        where = f" for {self.shape}" if self.shape else " for shapes that are not listed"
        self.source.fail(
            self.places.get(key, self.places[""]),
            f"{problem}{where} in variant '{self.variant.name}'",
            hint,
            key=at_key,
        )

    def _allowed(self) -> dict[str, list[Value]]:
        """Every key that the fragments in use or the compiler know -> the values that all of them take."""
        allowed: dict[str, list[Value]] = {key: list(values) for key, values in COMPILER_OPTIONS.items()}
        for fragment in self.used:
            for key, values in fragment.info.tunable.items():
                allowed[key] = [value for value in allowed.get(key, values) if value in values]
        allowed.setdefault("NUM_KSPLIT", [1])
        allowed["QUANTIZE"] = list(quantizers(self.variant))
        return allowed

    def _keys(self) -> None:
        everything = {"NUM_KSPLIT", "QUANTIZE", *COMPILER_OPTIONS}
        for fragment in self.variant.fragments:
            everything.update(fragment.info.tunable)
        for key in self.config:
            if key not in everything:
                self._fail(key, f"unknown key '{key}'", f"Known keys: {', '.join(sorted(everything))}.", at_key=True)
        for key in self._allowed():
            if key not in self.config and key not in AMD_OPTIONS:
                self._fail("", f"no value for '{key}'", "Set it under 'defaults', or where it differs.")

    def _values(self) -> None:
        allowed = self._allowed()
        for key, value in self.config.items():
            values = allowed.get(key)
            if values is not None and not any(type(value) is type(one) and value == one for one in values):
                shown = ", ".join(repr(one) if one == "" else str(one) for one in values)
                self._fail(key, f"{key} is {value!r}, which is not allowed", f"Allowed: {shown}.")

    def _relations(self) -> None:
        values: dict[str, object] = dict(self.config)
        if self.shape:
            values.update(M=self.shape.m, N=self.shape.n, K=self.shape.k)
        for fragment in self.used:
            for relation, why in fragment.info.relations.items():
                try:
                    broken = not holds(relation, values)
                except UnknownNameError:
                    continue  # about a shape, and this is a rule for many: the kernel's masks decide there
                except ValueError as error:
                    raise UsageError(f"{fragment.path}:1:1: FRAGMENT: relations: {error}") from None
                if broken:
                    key = next((word for word in relation.replace("(", " ").split() if word in self.config), "")
                    self._fail(key, f"{relation} does not hold ({why})", self._numbers(relation))

    def _numbers(self, relation: str) -> str:
        spoken = [key for key in self.config if key in relation.replace("(", " ").replace(")", " ").split()]
        return f"Here {', '.join(f'{key} is {self.config[key]}' for key in spoken)}." if spoken else ""

    def _k_tail(self) -> None:
        dropping = [fragment.name for fragment in self.used if fragment.info.k_tail == "dropped"]
        if not dropping:
            return
        block = int(self.config["BLOCK_SIZE_K"])
        if self.shape is None:
            self._fail("BLOCK_SIZE_K", f"the fragment '{dropping[0]}' drops the rest of a K that BLOCK_SIZE_K {block} "
                       "does not divide, so it cannot serve", "Use a fragment that masks the tail.")  # fmt: skip
        elif self.shape.k % block:
            divisors = [size for size in self._allowed()["BLOCK_SIZE_K"] if self.shape.k % int(size) == 0]
            self._fail(
                "BLOCK_SIZE_K",
                f"BLOCK_SIZE_K {block} does not divide K {self.shape.k} and the fragment '{dropping[0]}' does not mask "
                f"the tail, so the last {self.shape.k % block} of K would be dropped",
                f"Use {' or '.join(map(str, divisors))}, or a fragment that masks the tail."
                if divisors
                else "Use a fragment that masks the tail.",
            )

    def _split(self) -> None:
        splits = int(self.config["NUM_KSPLIT"])
        if splits == 1 or self.shape is None:
            return  # for shapes that are not listed the launcher lowers the splits until each has work
        block = int(self.config["BLOCK_SIZE_K"])
        needed = -(-self.shape.k // split_size(self.shape.k, splits, block))
        if needed != splits:
            most = -(-self.shape.k // block)
            fits = [n for n in range(1, most + 1) if -(-self.shape.k // split_size(self.shape.k, n, block)) == n]
            self._fail(
                "NUM_KSPLIT",
                f"NUM_KSPLIT {splits} leaves {splits - needed} splits without work: K {self.shape.k} in parts of whole "
                f"BLOCK_SIZE_K {block} makes {needed}",
                f"With this BLOCK_SIZE_K, NUM_KSPLIT may be {', '.join(map(str, fits))}.",
            )
