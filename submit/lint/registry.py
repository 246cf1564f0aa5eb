"""Finds the rules: each module in submit/lint/rules holds one, called RULE."""

import importlib
import pkgutil
from functools import cache

from mxsub.submit.errors import UsageError
from mxsub.submit.lint import rules
from mxsub.submit.lint.rule import Rule


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule, in the order of their codes."""
    found = [
        importlib.import_module(f"{rules.__name__}.{module.name}").RULE
        for module in pkgutil.iter_modules(rules.__path__)
    ]
    return tuple(sorted(found, key=lambda rule: rule.code))


def rule_named(name: str) -> Rule:
    """A rule by its code or name, in any case; UsageError for what is neither."""
    for rule in all_rules():
        if name.lower() in (rule.code.lower(), rule.name):
            return rule
    raise UsageError(
        f"there is no lint rule '{name}'",
        f"Rules: {', '.join(f'{rule.code} {rule.name}' for rule in all_rules())}.",
    )
