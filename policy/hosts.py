"""Host patterns of a policy file, compared label by label; a path narrows a pattern to what lies below it."""

from dataclasses import dataclass

import tldextract
from ada_url import URL

from policy.url_paths import path_parts

_SUFFIXES = tldextract.TLDExtract(cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True)


@dataclass(frozen=True)
class HostPattern:
    """`host`, `*.host` (its subdomains alone), `*` (any), each with `:port` and `/path` if wanted."""

    text: str
    host: str
    """Normalised; empty for any host."""
    subdomains: bool = False
    port: int = 443
    plain: bool = False
    """True if the pattern says http:// and so lists that form as well."""
    path: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> "HostPattern":
        """Raises: ValueError, with the remedy."""
        scheme, _, rest = text.strip().rpartition("://")
        scheme = "" if scheme == "*" else scheme
        if scheme not in ("", "https", "http"):
            raise ValueError(f"{text!r} has the scheme {scheme!r}: only https and http are possible")
        subdomains = rest.startswith(("*.", "."))
        name = rest.removeprefix("*").removeprefix(".") if subdomains else rest
        if name == "*" or name.startswith("*/"):
            return cls(text, "", path=_path_of(name[1:]))
        try:
            url = URL(f"{scheme or 'https'}://{name}")
        except ValueError as error:
            raise ValueError(f"{text!r} is not a host: write host, *.host, host:port or host/path") from error
        if "*" in url.hostname or not url.hostname or url.username or url.password:
            raise ValueError(f"{text!r} is not a host: a * may only stand alone or for all subdomains, as in *.host")
        host = normal_host(url.hostname)
        if subdomains and is_public_suffix(host):
            raise ValueError(f"{text!r} would take in everybody's sites under {host!r}: name the site below it")
        port = int(url.port) if url.port else (80 if scheme == "http" else 443)
        return cls(text, host, subdomains, port, scheme == "http", _path_of(url.pathname))

    def matches(self, host: str, port: int, path: tuple[str, ...]) -> bool:
        """As permission: exactly this host, or exactly its subdomains, on this port."""
        if not self.host:
            return port == 443 and path[: len(self.path)] == self.path
        named = host.endswith("." + self.host) if self.subdomains else host == self.host
        return named and port == self.port and path[: len(self.path)] == self.path

    def includes(self, other: "HostPattern") -> bool:
        """As permissions: whether everything that the other one permits is permitted by this one."""
        if other.port != self.port or other.path[: len(self.path)] != self.path:
            return False
        if not self.host or not other.host:
            return not self.host
        if not self.subdomains:
            return other.host == self.host and not other.subdomains
        return other.host.endswith("." + self.host) or (other.subdomains and other.host == self.host)

    def catches(self, host: str, path: tuple[str, ...]) -> bool:
        """As prohibition: this host, all its subdomains, every port, and all below the path."""
        named = not self.host or host == self.host or host.endswith("." + self.host)
        return named and path[: len(self.path)] == self.path


def normal_host(host: str) -> str:
    """The WHATWG form without the dot that may stand at the end of a full name."""
    return host.removesuffix(".").lower()


def is_public_suffix(host: str) -> bool:
    """Whether anybody may register a name directly below this one."""
    found = _SUFFIXES(host)
    return bool(found.suffix) and not found.domain


def _path_of(path: str) -> tuple[str, ...]:
    parts = path_parts(path)
    while parts and parts[-1] in ("*", "**"):
        parts = parts[:-1]
    return parts
