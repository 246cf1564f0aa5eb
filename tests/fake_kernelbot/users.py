"""Accounts, their cli ids, and the login through a provider's web page."""

import base64
import binascii
import json
import threading
import uuid
from dataclasses import dataclass, field

PROVIDERS = ("discord", "github")


class LoginFailed(Exception):
    """The login that a provider reported is refused; the text is the service's."""


@dataclass
class User:
    """An account. `cli_id` is its one valid id; `boards` are the closed boards that it has joined."""

    number: int
    name: str
    provider: str
    cli_id: str
    boards: set[str] = field(default_factory=set)
    banned: bool = False


class Users:
    """All accounts, and the ids given out whose login is not finished."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users: list[User] = []
        self._unfinished: set[str] = set()
        self._claimed: dict[str, int] = {}

    def named(self, name: str) -> User:
        """The registered account of that name, made with a valid id if there is none."""
        with self._lock:
            known = next((user for user in self._users if user.name == name), None)
            return known or self._add(name, "github", str(uuid.uuid4()))

    def start_login(self) -> str:
        """A new id, not valid before its login is finished."""
        state = str(uuid.uuid4())
        with self._lock:
            self._unfinished.add(state)
        return state

    def purge(self) -> None:
        """Forgets the unfinished logins, as the service does after ten minutes."""
        with self._lock:
            self._unfinished.clear()

    def finish_login(self, provider: str, name: str, cli_id: str, again: bool) -> User:
        """Makes `cli_id` the valid id of an account. Raises LoginFailed."""
        with self._lock:
            known = next((user for user in self._users if (user.name, user.provider) == (name, provider)), None)
            if known and not again:
                raise LoginFailed(
                    "Database update failed: User already has a valid account. Please re-register instead."
                )
            if again and not known:
                raise LoginFailed("Database update failed: No account found for this user. Please register first.")
            if cli_id not in self._unfinished:
                raise LoginFailed("Database update failed: No temporary user found for this id.")
            self._unfinished.discard(cli_id)
            if known:
                known.cli_id = cli_id
                return known
            return self._add(name, provider, cli_id)

    def holds(self, provider: str, name: str) -> bool:
        """Whether that account is registered."""
        return any((user.name, user.provider) == (name, provider) for user in self._users)

    def of(self, cli_id: str) -> User | None:
        """Whose valid id it is."""
        return next((user for user in self._users if user.cli_id == cli_id), None)

    def claim(self, code: str, user: User) -> bool:
        """Takes an invite code for a user; False when it is another's already."""
        with self._lock:
            return self._claimed.setdefault(code, user.number) == user.number

    def _add(self, name: str, provider: str, cli_id: str) -> User:
        user = User(42 + len(self._users), name, provider, cli_id)
        self._users.append(user)
        return user


def packed_state(cli_id: str, again: bool) -> str:
    """The `state` of a login URL: base64url without padding of a JSON object."""
    text = json.dumps({"cli_id": cli_id, "is_reset": again}, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def unpacked_state(state: str) -> tuple[str, bool]:
    """(cli id, again) of a `state`. Raises LoginFailed."""
    try:
        value = json.loads(base64.urlsafe_b64decode(state + "=" * (-len(state) % 4)))
        return str(value["cli_id"]), bool(value["is_reset"])
    except (binascii.Error, ValueError, KeyError, TypeError) as error:
        raise LoginFailed(f"Invalid state parameter: {error}") from None
