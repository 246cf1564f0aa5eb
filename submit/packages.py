"""Which packages are installed here."""

from importlib.metadata import PackageNotFoundError, version


def installed(package: str) -> str | None:
    """The installed version of a package, or None; does not import it."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None
