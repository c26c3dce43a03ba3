"""Whom a server answers: its own pages, under its own names, and off loopback only those who hold the token."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
from dataclasses import dataclass

from ...storage.errors import ConfigError

COOKIE = "demoloom"
_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
_LEAST_TOKEN_BYTES = 32


@dataclass(frozen=True)
class Rules:
    """What a request must bring.

    Args:
        port: that the server listens at.
        token: what everybody must know; None only on loopback, where it is enough to be on this machine.

    Raises:
        ConfigError: the token is too short to be safe.
    """

    port: int
    token: str | None = None

    def __post_init__(self) -> None:
        if self.token is not None and len(self.token) < _LEAST_TOKEN_BYTES:
            raise ConfigError(f"a token needs {_LEAST_TOKEN_BYTES} letters or more, got {len(self.token)}")

    def fault(self, host: str | None, origin: str | None, *, acts: bool, knows_token: bool) -> tuple[int, str] | None:
        """The status and the sentence by which a request is refused; None if it is not.

        On loopback the name must be one of this machine's: a page of elsewhere whose name was pointed at this machine
        (DNS rebinding) says its own. Off loopback it may be any name, as such a page has not got the cookie.

        Args:
            host: its Host.
            origin: its Origin; browsers send it with every WebSocket and all that acts.
            acts: whether it changes something, or opens a line.
            knows_token: whether it brings the token.
        """
        if host is None or (self.token is None and host not in self.hosts):
            return 400, f"this server is {' or '.join(self.hosts)}, not {host}; use one of these names"
        if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
            return 403, "requests from pages of other sites are refused; open this server's own page"
        if origin is None and acts and not knows_token:
            return 403, "a request without an Origin is refused unless it brings the token"
        return None

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names by which this machine is called from itself."""
        names = tuple(f"{name}:{self.port}" for name in _LOOPBACK_NAMES)
        # Browsers leave out the port that the scheme implies.
        return names + _LOOPBACK_NAMES if self.port == 80 else names

    @property
    def cookie(self) -> str:
        """What the cookie of those who know the token holds; the token cannot be told from it."""
        return "" if self.token is None else hashlib.sha256(f"demoloom {self.token}".encode()).hexdigest()

    def is_token(self, given: str) -> bool:
        """Whether this is the token; never where there is none."""
        return self.token is not None and hmac.compare_digest(given.encode(), self.token.encode())

    def is_cookie(self, given: str) -> bool:
        """Whether this is what a login gave."""
        return self.token is not None and hmac.compare_digest(given.encode(), self.cookie.encode())


def rules_for(host: str, port: int) -> Rules:
    """The rules of a server that listens at `host`, with a new token if others can reach it."""
    return Rules(port, None if is_loopback(host) else secrets.token_urlsafe(_LEAST_TOKEN_BYTES))


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a server at `host`."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
