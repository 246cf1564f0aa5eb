"""A report's contents as one HTML page."""

import base64
import hashlib
import re
from collections.abc import Mapping
from datetime import datetime
from importlib.resources import files

import jinja2
from markupsafe import Markup

from mxsub import __version__
from mxsub.submit.config_table import Value, shown_value
from mxsub.submit.html_report.contents import Report
from mxsub.submit.html_report.figures import figures_of
from mxsub.submit.kernelbot.address import DEFAULT_URL
from mxsub.submit.listing.shape_comparison import change_percent
from mxsub.submit.plain_text import one_line

# In every page's head: by this a later report knows the file for its own.
MARK = '<meta name="generator" content="mxsub report'

_HASH = re.compile(r"\b[0-9a-f]{64}\b")


def page_of(report: Report, made: datetime) -> str:
    """The page; `made`, in UTC, is all that differs between two pages of one history.

    Raises EnvironmentProblem where the plots cannot be made.
    """
    style, script = _own("style.css"), _own("page.js")
    trend, shapes = figures_of(report)
    return (
        _environment()
        .get_template("page.html.jinja")
        .render(
            report=report,
            made=made,
            version=__version__,
            mark=Markup(MARK),
            style=Markup(style),
            script=Markup(script),
            policy=(
                f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none'; "
                "form-action 'none'"
            ),
            trend=Markup(trend),
            shape_plots={shape: Markup(plot) for shape, plot in shapes.items()},
            default_service=DEFAULT_URL,
        )
    )


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("mxsub.submit.html_report", ""),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: Mapping[str, object] = {
        "day": lambda time: f"{time:%Y-%m-%d %H:%M}",
        "us": lambda time: "-" if time is None else f"{time:.3f}",
        "change": lambda new, old: f"{change_percent(new, old):+.1f} %",
        "one_line": one_line,
        "value": _shown_value,
        "short": lambda text: _HASH.sub(lambda found: found[0][:12], one_line(text)),
    }
    environment.filters.update(filters)
    return environment


def _visible(content: object) -> object:
    """A text with what has no sign of its own (controls, bidi overrides, lone surrogates) as its number: none of them
    can act on the page, and nothing hides."""
    if isinstance(content, Markup) or not isinstance(content, str) or content.isprintable():
        return content
    return "".join(sign if sign.isprintable() or sign in "\n\t" else f"⟨U+{ord(sign):04X}⟩" for sign in content)


def _shown_value(value: Value) -> str:
    return "-" if value is None else one_line(shown_value(value))


def _own(name: str) -> str:
    return files("mxsub.submit.html_report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
