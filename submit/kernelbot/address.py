"""Which service to talk to."""

import ipaddress
import os
from urllib.parse import urlsplit

from mxsub.submit.errors import UsageError

DEFAULT_URL = "https://site--bot--dxfjds728w5v.code.run"
VARIABLE = "POPCORN_API_URL"


def service_url(option: str | None = None) -> str:
    """The service's address, without a slash at its end: the option, else $POPCORN_API_URL, else the public one.

    An empty one counts as none. Raises UsageError for what is no address, for one with a password in it, and for
    plain http to another machine, which would show the id to everybody on the way.
    """
    for source, given in (("--api-url", option), (VARIABLE, os.environ.get(VARIABLE))):
        if given and given.strip():
            return checked_url(given.strip(), source)
    return DEFAULT_URL


def checked_url(url: str, source: str) -> str:
    """The address without its last slashes; UsageError, which names the source, where it cannot be used."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or any(sign.isspace() or not sign.isprintable() or sign == "\\" for sign in url):
        raise UsageError(f"{source} is no address of a service", f"An address looks like {DEFAULT_URL}.")
    if "@" in parts.netloc:
        raise UsageError(f"{source} holds a user name or password, which mxsub does not send", "Leave it out.")
    if parts.query or parts.fragment:
        raise UsageError(f"{source} has a '?' or '#' in it", f"An address looks like {DEFAULT_URL}.")
    if parts.scheme == "http" and not is_loopback(host):
        raise UsageError(
            f"{source} is plain http to {host}, where anybody on the way could read your KernelBot id",
            "Use https; plain http is for this machine only (localhost, 127.0.0.1, ::1).",
        )
    if parts.scheme not in ("http", "https"):
        raise UsageError(f"{source} is neither https nor http", f"An address looks like {DEFAULT_URL}.")
    return url.rstrip("/")


def is_loopback(host: str) -> bool:
    """Whether a host name or address can only be this machine."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
