"""Web addresses as browsers read them, so that the host that is judged is the host that is visited."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from ada_url import URL, check_url

from activities.arguments import shown_value
from activities.tool import BadArguments

LONGEST_ADDRESS = 4_096


@dataclass(frozen=True)
class WebAddress:
    """One http or https address in the spelling of the WHATWG URL standard."""

    href: str
    scheme: str
    host: str
    """Lower case, punycode, IPv6 in brackets."""

    @property
    def origin(self) -> str:
        """Scheme, host and port where it is not the usual one."""
        parts = urlsplit(self.href)
        return f"{parts.scheme}://{parts.netloc}"


def web_address(url: str) -> WebAddress:
    """Raises: BadArguments for anything but an http or https address without a user name and password."""
    if len(url) > LONGEST_ADDRESS:
        raise BadArguments(f"url: at most {LONGEST_ADDRESS} characters are taken (it has {len(url)})")
    spelt = url.strip() if "://" in url else f"https://{url.strip()}"
    if not check_url(spelt):
        raise BadArguments(f"url: an address such as https://example.org/page is expected (it is {shown_value(url)})")
    parsed = URL(spelt)
    if parsed.protocol not in ("http:", "https:"):
        raise BadArguments(f"url: only http and https are visited (it is {shown_value(url)})")
    if parsed.username or parsed.password:
        raise BadArguments("url: an address may not hold a user name or password")
    return WebAddress(href=parsed.href, scheme=parsed.protocol.rstrip(":"), host=parsed.hostname)


def joined(base: WebAddress, location: str) -> WebAddress:
    """Where a redirect from `base` leads. Raises: BadArguments."""
    try:
        return web_address(URL(location, base.href).href)
    except ValueError:
        raise BadArguments(f"url: a redirect leads to {shown_value(location)}, which is no address") from None
