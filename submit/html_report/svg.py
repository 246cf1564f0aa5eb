"""matplotlib's SVG as part of a page.

The page's content security policy forbids inline styles, so declarations become attributes. Colours become classes,
`s-NAME` for strokes and `f-NAME` for fills, which style.css gives a colour for light and for dark. Identifiers get the
figure's name in front, as the page has several figures.
"""

import re
from collections.abc import Mapping, Sequence
from xml.etree import ElementTree

_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_PASSED_ON = {
    "fill", "stroke", "fill-opacity", "stroke-opacity", "opacity", "stroke-width", "stroke-dasharray",
    "stroke-dashoffset", "stroke-linecap", "stroke-linejoin", "text-anchor",
}  # fmt: skip
_REFERENCE = re.compile(r"#(?=[A-Za-z])")


def embedded(svg: bytes, name: str, label: str, colours: Mapping[str, str], titles: Mapping[str, Sequence[str]]) -> str:
    """An <svg> element. label: what a screen reader says. colours: `#rrggbb` -> name. titles: by the gid of a line of
    markers, a text for each marker, in order."""
    root = ElementTree.fromstring(svg)
    for parent in root.iter():
        for child in [child for child in parent if child.tag in (f"{_SVG}metadata", f"{_SVG}style")]:
            parent.remove(child)
    for gid, texts in titles.items():
        marks = root.iterfind(f".//{_SVG}g[@id='{gid}']//{_SVG}use")
        for mark, text in zip(marks, texts, strict=True):
            ElementTree.SubElement(mark, f"{_SVG}title").text = text
    for element in root.iter():
        _restyle(element, name, colours)
    for size in ("width", "height"):
        root.attrib.pop(size)
    root.attrib |= {"role": "img", "aria-label": label, "class": name.rstrip("0123456789-")}
    ElementTree.register_namespace("", _SVG.strip("{}"))
    return ElementTree.tostring(root, encoding="unicode")


def _restyle(element: ElementTree.Element, name: str, colours: Mapping[str, str]) -> None:
    attributes = element.attrib
    if element.tag == f"{_SVG}g":
        attributes.pop("id", None)
    elif "id" in attributes:
        attributes["id"] = f"{name}-{attributes['id']}"
    if "clip-path" in attributes:
        attributes["clip-path"] = _REFERENCE.sub(f"#{name}-", attributes["clip-path"])
    if _HREF in attributes:
        attributes["href"] = _REFERENCE.sub(f"#{name}-", attributes.pop(_HREF))
    if "d" in attributes:
        attributes["d"] = " ".join(attributes["d"].split())
    classes = []
    for declaration in attributes.pop("style", "").split(";"):
        key, _, value = (part.strip() for part in declaration.partition(":"))
        if key in ("fill", "stroke") and value in colours:
            classes.append(f"{key[0]}-{colours[value]}")
        elif key in _PASSED_ON:
            attributes[key] = value
    if classes:
        attributes["class"] = " ".join(classes)
