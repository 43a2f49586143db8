"""Inspection: which tunnels are opened, what is judged in them, and whom each end must believe."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from contracts.egress import EgressRules
from contracts.messages import HostGrant
from policy.file import parse
from policy.passage import closing
from sandbox.authority import NAME, Authority, AuthorityUnusable
from sandbox.house import Closes, HouseRules, RequestHead, Rewrite, nothing_closed, unchanged
from sandbox.inspection import Inspection
from tests.sandbox.proxies import Origin, Proxy, connect, get, proxy, saying

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Ring:
    """A keyring of one key."""

    def __init__(self) -> None:
        self._cipher = AESGCM(bytes(32))

    def seal(self, plain: bytes, associated: bytes) -> bytes:
        return self._cipher.encrypt(bytes(12), plain, associated)

    def unseal(self, box: bytes, associated: bytes) -> bytes:
        return self._cipher.decrypt(bytes(12), box, associated)


def server_context(authority: Authority, host: str, folder: Path) -> ssl.SSLContext:
    """For a server whose certificate this authority made."""
    (folder / "server.pem").write_bytes(authority.vouch(host)[0])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem")
    return context


class Bench:
    """An inspecting proxy before a real TLS server, with two authorities: ours, and the world's."""

    def __init__(self, it: Proxy, site: Origin, ours: Authority) -> None:
        self.it = it
        self.site = site
        self.ours = ours

    async def ask(self, *requests: bytes, name: str = "site.test", trust: bytes | None = None) -> bytes:
        """CONNECT, a handshake as a client that trusts `trust` does it, and the requests."""
        context = ssl.create_default_context(cadata=(trust or self.ours.certificate).decode())
        reader, writer = await asyncio.open_connection("127.0.0.1", self.it.port)
        try:
            writer.write(connect("site.test:443"))
            await reader.readuntil(b"\r\n\r\n")
            await writer.start_tls(context, server_hostname=name)
            writer.write(b"".join(requests))
            return await asyncio.wait_for(reader.read(-1), 20)
        finally:
            writer.close()
            await asyncio.gather(writer.wait_closed(), return_exceptions=True)


@asynccontextmanager
async def bench(
    folder: Path,
    *,
    answer: bytes = OK,
    inspect: str = "site.test",
    certified: str = "site.test",
    trusted: bool = True,
    methods: tuple[str, ...] = (),
    rewrite: Rewrite = unchanged,
    closes: Closes = nothing_closed,
) -> AsyncIterator[Bench]:
    ours, world = Authority.load(folder / "ours", Ring()), Authority.load(folder / "world", Ring())
    (folder / "world.pem").write_bytes(world.certificate)
    rules = EgressRules(inspect=(inspect,), methods=methods, authorities=str(folder / "world.pem") if trusted else None)
    house = HouseRules(rules=lambda: rules, inspection=Inspection(ours), closes=closes)
    context = server_context(world, certified, folder)
    async with saying(answer, context) as site, proxy(site.grant, house=house, rewrite=rewrite) as it:
        yield Bench(it, site, ours)


def inside(path: str, *headers: str, method: str = "GET", host: str = "site.test") -> bytes:
    return "\r\n".join([f"{method} {path} HTTP/1.1", f"Host: {host}", *headers, "", ""]).encode()


async def test_requests_in_an_opened_tunnel_are_judged_and_written_down_one_by_one(tmp_path: Path) -> None:
    async with bench(tmp_path, methods=("GET",)) as its:
        last = inside("/c", "Connection: close")
        answer = await its.ask(inside("/a?token=secret"), inside("/b", method="DELETE"), last)
        records = await its.it.recorded(4)

    assert answer.count(b"200 OK") == 2
    assert b"X-Asos-Reason: method\r\n" in answer
    assert [head.split(b" HTTP")[0] for head in its.site.heard] == [b"GET /a?token=secret", b"GET /c"]
    assert [(one.method, one.path, one.reason, one.status, one.inspected) for one in records] == [
        ("GET", "/a", "allowed", 200, True),
        ("DELETE", "/b", "method", 0, True),
        ("GET", "/c", "allowed", 200, True),
        ("CONNECT", "", "allowed", 0, False),
    ]


@pytest.mark.parametrize(
    ("path", "reason"),
    [("/closed", "blocked"), ("/x/../closed/y", "blocked"), ("/%63losed?a", "blocked"),
     ("/" + "./" * 600 + "closed", "blocked"),
     ("/open", "allowed"), ("/?next=/closed", "allowed")],
)  # fmt: skip
async def test_in_an_opened_tunnel_blocked_paths_of_the_role_are_closed(tmp_path: Path, path: str, reason: str) -> None:
    policy = parse("role: owner\npermissions: {browser: {blocked: [site.test/closed]}}", "test")

    def closes(role: str, host: str, path: str | None) -> str | None:
        found = closing(policy, role, host, path)
        return found.text if found else None

    async with bench(tmp_path, closes=closes) as its:
        await its.ask(inside(path, "Connection: close"))
        records = await its.it.recorded(2)

    assert [one.reason for one in records if one.inspected] == [reason]
    assert len(its.site.heard) == (reason == "allowed")


async def test_a_host_that_is_not_listed_is_never_opened(tmp_path: Path) -> None:
    async with bench(tmp_path, inspect="*.site.test") as its:
        world = (tmp_path / "world.pem").read_bytes()
        answer = await its.ask(inside("/a"), trust=world)
        records = await its.it.recorded(1)

    assert answer.endswith(b"ok")
    assert [(one.method, one.inspected) for one in records] == [("CONNECT", False)]


async def test_the_name_in_the_handshake_must_be_the_tunnel_s(tmp_path: Path) -> None:
    async with bench(tmp_path) as its:
        with pytest.raises(ssl.SSLError):
            await its.ask(inside("/a"), name="other.test")
        records = await its.it.recorded(1)

    assert its.site.heard == []
    assert [one.reason for one in records] == ["handshake"]


@pytest.mark.parametrize(
    "request_",
    [
        inside("/a", host="other.test"),
        inside("/a", host="site.test:8443"),
        inside("/a", host="site.test@other.test"),
        inside("/a", host="other.test/site.test"),
        inside("http://other.test/a"),
        inside("*", method="OPTIONS"),
        connect("other.test:443"),
    ],
)
async def test_a_request_for_another_host_does_not_ride_in_an_opened_tunnel(request_: bytes, tmp_path: Path) -> None:
    async with bench(tmp_path) as its:
        answer = await its.ask(request_, inside("/a"))

    assert answer.startswith(b"HTTP/1.1 421 ")
    assert its.site.heard == []
    assert its.it.records[0].reason == "misdirected"


@pytest.mark.parametrize("named", ["site.test", "SITE.test", "site.test:443", "site.test."])
async def test_the_tunnel_s_own_host_has_several_spellings(named: str, tmp_path: Path) -> None:
    async with bench(tmp_path) as its:
        answer = await its.ask(inside("/a", "Connection: close", host=named))

    assert answer.endswith(b"ok")


@pytest.mark.parametrize(("certified", "trusted"), [("other.test", True), ("site.test", False)])
async def test_a_server_that_cannot_prove_its_name_is_not_spoken_to(
    certified: str, trusted: bool, tmp_path: Path
) -> None:
    async with bench(tmp_path, certified=certified, trusted=trusted) as its:
        answer = await its.ask(inside("/a", "Connection: close"))

    assert answer.startswith(b"HTTP/1.1 502 ")
    assert b"X-Asos-Reason: certificate\r\n" in answer
    assert its.site.heard == []


async def test_a_web_socket_goes_through_an_opened_tunnel(tmp_path: Path) -> None:
    switching = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nfirst,"
    async with bench(tmp_path, answer=switching) as its:
        context = ssl.create_default_context(cadata=its.ours.certificate.decode())
        reader, writer = await asyncio.open_connection("127.0.0.1", its.it.port)
        writer.write(connect("site.test:443"))
        await reader.readuntil(b"\r\n\r\n")
        await writer.start_tls(context, server_hostname="site.test")
        writer.write(inside("/ws", "Connection: Upgrade", "Upgrade: websocket") + b"frames")
        answer = await asyncio.wait_for(reader.readuntil(b"frames"), 20)
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)

    assert answer.startswith(b"HTTP/1.1 101 ")
    assert answer.endswith(b"first,frames")


async def test_the_head_of_a_permitted_request_can_be_rewritten(tmp_path: Path) -> None:
    seen: list[RequestHead] = []

    async def with_secret(head: RequestHead) -> RequestHead:
        seen.append(head)
        return replace(head, headers=(*head.headers, (b"Authorization", b"Bearer real")))

    async with bench(tmp_path, rewrite=with_secret) as its:
        await its.ask(inside("/a", "Connection: close"))
        await its.it.ask(get("http://site.test/"))

    assert [(head.host, head.port, head.method, head.target) for head in seen] == [("site.test", 443, "GET", b"/a")]
    assert b"Authorization: Bearer real\r\n" in its.site.heard[0]


async def test_plain_words_in_a_tunnel_that_should_be_encrypted_get_nowhere(tmp_path: Path) -> None:
    async with bench(tmp_path) as its:
        await its.it.ask(connect("site.test:443") + get("http://site.test/"))

    assert its.site.heard == []
    assert [one.reason for one in its.it.records] == ["handshake"]


def test_the_authority_stays_the_same_and_its_key_is_sealed(tmp_path: Path) -> None:
    first, again = Authority.load(tmp_path / "a", Ring()), Authority.load(tmp_path / "a", Ring())
    box = (tmp_path / "a" / NAME).read_bytes()

    assert first.certificate == again.certificate
    assert first.certificate != Authority.load(tmp_path / "b", Ring()).certificate
    assert b"PRIVATE" not in box
    assert (tmp_path / "a" / NAME).stat().st_mode & 0o777 == 0o600
    assert [path.name for path in (tmp_path / "a").iterdir()] == [NAME]


def test_a_key_that_others_can_read_is_refused_with_the_remedy(tmp_path: Path) -> None:
    Authority.load(tmp_path, Ring())
    (tmp_path / NAME).chmod(0o644)

    with pytest.raises(AuthorityUnusable, match="chmod 600"):
        Authority.load(tmp_path, Ring())


def test_a_certificate_is_for_one_host_and_for_two_days(tmp_path: Path) -> None:
    authority = Authority.load(tmp_path, Ring())
    named = x509.load_pem_x509_certificate(authority.vouch("site.test")[0])
    numbered = x509.load_pem_x509_certificate(authority.vouch("192.0.2.1")[0])

    assert (named.not_valid_after_utc - named.not_valid_before_utc).days == 2
    names = named.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["site.test"]
    numbers = numbered.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert [str(each) for each in numbers.get_values_for_type(x509.IPAddress)] == ["192.0.2.1"]
    assert not named.extensions.get_extension_for_class(x509.BasicConstraints).value.ca


async def test_an_opened_tunnel_is_closed_to_a_host_that_nobody_granted(tmp_path: Path) -> None:
    rules = EgressRules(inspect=("*",))
    house = HouseRules(rules=lambda: rules, inspection=Inspection(Authority.load(tmp_path, Ring())))
    async with proxy(HostGrant(host="site.test", port=80), house=house) as it:
        answer = await it.ask(connect("site.test:443"))

    assert answer.startswith(b"HTTP/1.1 403 ")
    assert [one.reason for one in it.records] == ["not_allowed"]
